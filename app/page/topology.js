// The map of a network: force-graph draws it; here is what it shows, and what a reader can do with it.
// Whatever comes from the network is put into the page as text, never as markup.

const DEPTH = 2
const HITS = 8
const LABELS = 120
const SMALL = 300
const COLOUR = /^#[0-9a-f]{6}$/i
const FALLBACK = '#8a9499'
const WIDE = 1000 // pixels: where the map stands beside the report, not below
const MARGIN = 44 // pixels around everything, so that the legend covers nothing
const ROOMY = 8 // the closest that a reader can zoom in

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

function facts(properties) {
  const list = made('dl')
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === '') continue
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    list.append(made('div', {}, made('dt', { textContent: name }), made('dd', { textContent: text })))
  }
  return list
}

// What a reader changed of a type, kept in the browser for each scenario.
class Taste {
  constructor(scenario) {
    this.key = `kb-network:${scenario}`
    this.types = new Map()
    try {
      for (const [type, own] of Object.entries(JSON.parse(localStorage.getItem(this.key)) ?? {})) this.types.set(type, own)
    } catch {
      // nothing is kept, or something else wrote there
    }
  }

  colour(type) {
    const kept = this.types.get(type)?.colour
    return COLOUR.test(kept) ? kept : undefined
  }

  field(type) {
    const kept = this.types.get(type)?.field
    return typeof kept === 'string' ? kept : undefined
  }

  change(type, own) {
    if (own) this.types.set(type, { ...this.types.get(type), ...own })
    else this.types.delete(type)
    localStorage.setItem(this.key, JSON.stringify(Object.fromEntries(this.types)))
  }
}

class NetworkMap {
  constructor(root) {
    this.root = root
    this.find = (name) => root.querySelector(`.${name}`)
    this.nodes = []
    this.links = []
    this.hidden = new Set()
    this.chosen = null
    this.near = null
    this.motion = matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 400
    this.resized = new ResizeObserver(() => this.resize())
    this.dark = matchMedia('(prefers-color-scheme: dark)')
    this.recolour = () => (this.readColours(), this.redraw())
    this.dark.addEventListener('change', this.recolour)
    this.listen()
  }

  listen() {
    const search = this.find('search')
    search.addEventListener('input', () => this.search(search.value))
    search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault() // the click moves the focus to another button, which would be pressed as well
        this.find('hits').querySelector('button')?.click()
      }
      if (event.key === 'ArrowDown') this.find('hits').querySelector('button')?.focus()
      if (event.key === 'Escape') this.search((search.value = ''))
    })
    this.find('map').addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return
      if (!this.find('menu').hidden) this.closeMenu()
      else if (this.chosen) this.choose(null)
      else return
      event.stopPropagation()
    })
    for (const button of this.root.querySelectorAll('[data-do]')) {
      button.addEventListener('click', () => this[button.dataset.do]())
    }
    this.find('stage').addEventListener('contextmenu', (event) => event.preventDefault())
    this.find('canvas').addEventListener('pointermove', (event) => this.moveTip(event), { passive: true })
    this.find('canvas').addEventListener('pointerleave', () => this.showTip(null))
    this.find('canvas').addEventListener('pointerdown', () => this.closeMenu(), { passive: true })
  }

  // --- what the component is given ---------------------------------------------------------------

  async update(data, tell) {
    this.tell = tell
    this.data = data
    this.types = new Map(data.types.map((type) => [type.name, type]))
    if (this.taste?.key !== `kb-network:${data.scenario}`) this.taste = new Taste(data.scenario)
    this.readColours()
    if (data.version !== this.version) this.take(data)
    this.mark(data.marks)
    this.showChips()
    this.showLegend()
    this.describe()
    if (data.chosen && data.chosen.at !== this.chosenAt) {
      this.chosenAt = data.chosen.at
      this.asked = data.chosen.id
    }
    if (this.asked && this.byId.has(this.asked)) {
      this.unfold(true)
      this.choose(this.byId.get(this.asked), false)
      this.asked = null
      if (innerWidth < WIDE) this.find('map').scrollIntoView({ block: 'start', behavior: this.motion ? 'smooth' : 'auto' })
    }
    await this.draw()
  }

  readColours() {
    const styles = getComputedStyle(this.find('map'))
    const colour = (name) => styles.getPropertyValue(`--kb-${name}`).trim() || FALLBACK
    this.colours = Object.fromEntries(['ink', 'muted', 'line', 'ground', 'soft', 'accent', 'warn', 'bad'].map((each) => [each, colour(each)]))
  }

  take(data) {
    this.version = data.version
    const before = new Map(this.nodes.map((node) => [node.id, node]))
    this.nodes = data.nodes.map((node) => {
      const { x, y } = before.get(node.id) ?? {}
      return { id: node.id, name: node.label, type: node.type, facts: node.properties, ...(x === undefined ? {} : { x, y }) }
    })
    this.byId = new Map(this.nodes.map((node) => [node.id, node]))
    const ends = (edge) => this.byId.has(edge.source) && this.byId.has(edge.target)
    this.links = data.edges.filter(ends).map((edge) => ({ source: edge.source, target: edge.target, type: edge.type, facts: edge.properties }))
    this.neighbours = new Map(this.nodes.map((node) => [node.id, []]))
    for (const link of this.links) {
      this.neighbours.get(link.source).push({ id: link.target, type: link.type, needs: true })
      this.neighbours.get(link.target).push({ id: link.source, type: link.type, needs: false })
    }
    this.curve()
    this.stale = true
    if (this.chosen) this.choose(this.byId.get(this.chosen.id) ?? null, false)
  }

  // Edges between the same two elements are bent apart.
  curve() {
    const pairs = new Map()
    for (const link of this.links) {
      const pair = JSON.stringify([link.source, link.target].sort())
      pairs.set(pair, [...(pairs.get(pair) ?? []), link])
    }
    for (const links of pairs.values()) {
      links.forEach((link, at) => {
        const bend = links.length < 2 ? 0 : 0.5 * (at / (links.length - 1) - 0.5)
        link.bend = link.source < link.target ? bend : -bend
        if (link.source === link.target) link.bend = 0.6 + 0.2 * at
      })
    }
  }

  mark(marks) {
    const all = new Set()
    const set = (ids) => new Set((ids ?? []).map((id) => (all.add(id), id)))
    this.marks = {
      causes: new Map((marks?.causes ?? []).map((cause) => (all.add(cause.id), [cause.id, cause.probability]))),
      alerting: set(marks?.alerting),
      down: set(marks?.down),
      weakened: set(marks?.weakened),
    }
    this.marked = all
    this.way = new Set()
    for (const path of marks?.paths ?? []) {
      path.slice(1).forEach((id, at) => this.way.add(JSON.stringify([path[at], id].sort())))
    }
    const rank = (node) => (this.marks.causes.has(node.id) ? 2 : all.has(node.id) ? 1 : 0)
    this.nodes.sort((one, other) => rank(one) - rank(other)) // the last is drawn on top
  }

  isOnWay(link) {
    return this.way.size > 0 && this.way.has(JSON.stringify([endOf(link.source), endOf(link.target)].sort()))
  }

  // --- drawing -----------------------------------------------------------------------------------

  async draw() {
    const state = this.find('state')
    try {
      if (!globalThis.ForceGraph) await import(new URL(this.data.engine, location.origin))
    } catch {
      state.textContent = 'The map could not be loaded. Reload the page to try again; the search above works without it.'
      return
    }
    if (!this.root.isConnected) return
    state.textContent = this.nodes.length ? '' : this.data.empty || 'There is no element to show.'
    if (!this.graph) this.begin()
    if (this.stale) this.layOut()
    else this.redraw()
  }

  begin() {
    this.graph = new globalThis.ForceGraph(this.find('canvas'))
      .nodeLabel(() => '') // its tooltips would take texts for HTML; ours don't
      .linkLabel(() => '')
      .maxZoom(ROOMY)
      .nodeVisibility((node) => !this.hidden.has(node.type))
      .linkVisibility((link) => !this.hidden.has(link.source.type) && !this.hidden.has(link.target.type))
      .nodeCanvasObject((node, context, scale) => this.drawNode(node, context, scale))
      .nodePointerAreaPaint((node, colour, context, scale) => {
        context.fillStyle = colour
        disc(context, node, Math.max(this.radius(node) + 2, 7 / scale))
        context.fill()
      })
      .linkCurvature((link) => link.bend)
      .linkColor((link) => this.linkColour(link))
      .linkWidth((link) => (this.isOnWay(link) ? 2.5 : 1))
      .linkDirectionalArrowLength(() => (this.links.length > 4 * SMALL ? 0 : 3))
      .linkDirectionalArrowRelPos(0.62)
      .onRenderFramePost((context, scale) => this.drawLabels(context, scale))
      .onNodeHover((node) => this.showTip(node && this.tipOfNode(node)))
      .onLinkHover((link) => this.showTip(link && tipOfLink(link)))
      .onNodeClick((node) => this.choose(node))
      .onNodeRightClick((node, event) => this.openMenu(node.type, event))
      .onBackgroundClick(() => this.choose(null))
      .onEngineStop(() => this.settle())
    this.graph.d3Force('charge').strength(-60).distanceMax(250)
    this.graph.d3Force('link').distance(22)
    this.graph.d3Force('gravity', (alpha) => {
      for (const node of this.nodes) {
        node.vx -= node.x * 0.05 * alpha
        node.vy -= node.y * 0.05 * alpha
      }
    })
    this.resized.observe(this.find('stage'))
    this.resize()
  }

  layOut() {
    this.stale = false
    this.fits = false
    // a small network comes to rest before it is shown; a large one in front of the reader
    const isSmall = this.nodes.length <= SMALL || !this.motion
    this.graph.warmupTicks(isSmall ? 250 : 0).cooldownTicks(isSmall ? 1 : 200)
    this.graph.graphData({ nodes: this.nodes, links: this.links })
  }

  settle() {
    if (this.fits || !this.find('stage').clientWidth) return
    this.fits = true
    if (this.chosen) this.centre(this.chosen)
    else this.graph.zoomToFit(0, MARGIN)
    this.find('map').dataset.settled = this.version
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.find('stage')
    if (!this.graph || !width || !height) return
    this.graph.width(width).height(height)
    if (this.width !== width || this.height !== height) {
      const again = this.width !== undefined || !this.fits
      this.width = width
      this.height = height
      if (again && !this.chosen) this.graph.zoomToFit(0, MARGIN)
      if (!this.fits) this.settle()
    }
  }

  redraw() {
    this.graph?.linkWidth(this.graph.linkWidth()) // setting a property is what makes it draw again
  }

  radius(node) {
    return 0.5 * Math.min(Math.max(this.types.get(node.type)?.size ?? 6, 2), 24)
  }

  colour(type) {
    const own = this.taste.colour(type) ?? this.types.get(type)?.color
    return COLOUR.test(own) ? own : FALLBACK
  }

  isFaded(id) {
    if (this.near) return !this.near.has(id)
    return this.marked.size > 0 && !this.marked.has(id)
  }

  drawNode(node, context, scale) {
    const { marks, colours } = this
    const radius = this.radius(node)
    context.globalAlpha = this.isFaded(node.id) ? 0.3 : 1
    const halo = marks.down.has(node.id) ? colours.bad : marks.weakened.has(node.id) ? colours.warn : null
    if (halo) {
      context.globalAlpha *= 0.6
      context.fillStyle = halo
      disc(context, node, radius + 5)
      context.fill()
      context.globalAlpha /= 0.6
    }
    context.fillStyle = this.colour(node.type)
    disc(context, node, radius)
    context.fill()
    const ring = (distance, width, colour) => {
      context.strokeStyle = colour
      context.lineWidth = width
      disc(context, node, radius + distance)
      context.stroke()
    }
    if (marks.alerting.has(node.id)) ring(1.6, 1.2, colours.ink)
    if (marks.causes.has(node.id)) {
      ring(5.5, 2, colours.bad)
      ring(8.5, 1, colours.bad)
    }
    if (this.chosen === node) ring(4, 2.5 / scale + 0.5, colours.accent)
    context.globalAlpha = 1
  }

  linkColour(link) {
    const faded = this.isFaded(endOf(link.source)) || this.isFaded(endOf(link.target))
    if (this.isOnWay(link) && !(this.near && faded)) return this.colours.bad
    return `color-mix(in srgb, ${this.colours.muted} ${faded ? 22 : 62}%, transparent)`
  }

  // The labels for which there is room: the most important first, and of a large network only some.
  drawLabels(context, scale) {
    const { marks } = this
    const importance = (node) =>
      node === this.chosen ? 5 : marks.causes.has(node.id) ? 4 : marks.alerting.has(node.id) ? 3 : this.marked.has(node.id) || this.near?.has(node.id) ? 2 : 1
    const shown = this.nodes.filter((node) => !this.hidden.has(node.type) && !(this.isFaded(node.id) && scale < 3))
    shown.sort((one, other) => importance(other) - importance(one) || this.radius(other) - this.radius(one))
    const size = 11 / scale
    // no label lies on a mark
    const taken = this.nodes.filter((node) => this.marked.has(node.id)).map(({ x, y }) => [x - 3, y - 3, x + 3, y + 3])
    const most = taken.length + LABELS
    context.textAlign = 'center'
    context.textBaseline = 'top'
    context.lineJoin = 'round'
    for (const node of shown) {
      if (taken.length >= most) break
      const isCause = marks.causes.has(node.id)
      const text = this.labelOf(node) + (isCause ? ` · ${Math.round(100 * Math.min(marks.causes.get(node.id), 0.99))} %` : '')
      context.font = `${isCause || node === this.chosen ? 600 : 400} ${size}px "Source Sans", sans-serif`
      const width = context.measureText(text).width
      const away = this.radius(node) + (isCause ? 9.5 : this.marked.has(node.id) ? 5.5 : 1) + 2 / scale
      const box = placesAround(node, away, width, size * 1.15).find((box) => !taken.some((other) => overlap(box, other)))
      if (!box) continue
      taken.push(box)
      context.globalAlpha = this.isFaded(node.id) ? 0.55 : 1
      context.strokeStyle = this.colours.soft
      context.lineWidth = 3 / scale
      const [middle, top] = [(box[0] + box[2]) / 2, box[1]]
      context.strokeText(text, middle, top)
      context.fillStyle = isCause ? this.colours.bad : this.colours.ink
      context.fillText(text, middle, top)
    }
    context.globalAlpha = 1
  }

  labelOf(node) {
    const field = this.taste.field(node.type) ?? 'id'
    const value = field === 'id' ? node.id : field === 'name' ? node.name : node.facts[field]
    const text = value === null || value === undefined || value === '' ? node.id : String(value)
    return text.length > 28 ? `${text.slice(0, 27)}…` : text
  }

  // --- tooltips ----------------------------------------------------------------------------------

  tipOfNode(node) {
    const said = [node.type, ...this.saidOf(node)].join(' · ')
    return [made('h2', { textContent: node.id }), made('p', { className: 'sub', textContent: said }), facts(node.facts)]
  }

  saidOf(node) {
    const { causes, alerting, down, weakened } = this.marks
    return [
      causes.has(node.id) && `suspected cause, ${Math.round(100 * Math.min(causes.get(node.id), 0.99))} %`,
      alerting.has(node.id) && 'alerts',
      down.has(node.id) && 'down',
      weakened.has(node.id) && 'weakened',
    ].filter(Boolean)
  }

  showTip(content) {
    const tip = this.find('tip')
    tip.hidden = !content
    if (content) tip.replaceChildren(...content)
    if (content && this.pointer) this.moveTip(this.pointer)
  }

  moveTip(event) {
    this.pointer = event
    const tip = this.find('tip')
    if (tip.hidden) return
    const stage = this.find('stage').getBoundingClientRect()
    const x = event.clientX - stage.left
    const y = event.clientY - stage.top
    const left = x + 14 + tip.offsetWidth > stage.width ? x - 14 - tip.offsetWidth : x + 14
    tip.style.left = `${Math.max(4, left)}px`
    tip.style.top = `${Math.max(4, Math.min(y + 14, stage.height - tip.offsetHeight - 4))}px`
  }

  // --- one element -------------------------------------------------------------------------------

  // Of a network that is not whole, the page is asked for what lies around the element.
  choose(node, asks = true) {
    this.chosen = node
    this.near = null
    const details = this.find('details')
    details.hidden = !node
    if (node) {
      this.near = this.around(node.id)
      details.replaceChildren(...this.detailsOf(node))
      details.scrollTop = 0
      if (this.fits) this.centre(node)
      if (asks && !this.data.whole) this.tell('chosen', node.id)
    }
    this.describe()
    this.redraw()
  }

  around(id) {
    let edge = [id]
    const near = new Set(edge)
    for (let step = 0; step < DEPTH; step++) {
      edge = edge.flatMap((each) => this.neighbours.get(each).map((other) => other.id)).filter((each) => !near.has(each) && near.add(each))
    }
    return near
  }

  detailsOf(node) {
    const button = (textContent, onclick) => made('button', { type: 'button', textContent, onclick })
    const show = button('Display …', () => this.openMenu(node.type))
    const close = button('Close', () => (this.choose(null), this.find('search').focus()))
    const named = node.name && node.name !== node.id ? [node.name] : []
    const said = [...named, node.type, ...this.saidOf(node)].join(' · ')
    const titles = made('div', {}, made('h2', { textContent: node.id }), made('p', { className: 'sub', textContent: said }))
    const rest = Object.fromEntries(Object.entries(node.facts).filter(([name]) => !['id', 'name', 'type'].includes(name)))
    return [made('header', {}, titles, show, close), facts(rest), ...this.listOf(node, true, 'Depends on'), ...this.listOf(node, false, 'Needed by')]
  }

  listOf(node, needs, title) {
    const found = this.neighbours.get(node.id).filter((each) => each.needs === needs)
    if (!found.length) return []
    const list = made('ul', { className: 'neighbours' })
    for (const each of found) list.append(made('li', {}, this.buttonOf(this.byId.get(each.id), each.type)))
    return [made('h3', { textContent: `${title} (${found.length})` }), list]
  }

  buttonOf(node, note) {
    const dot = made('span', { className: 'dot' })
    dot.style.setProperty('--dot', this.colour(node.type))
    return made('button', { type: 'button', onclick: () => this.pick(node) }, dot, node.id, made('i', { textContent: note }))
  }

  pick(node) {
    this.find('search').value = ''
    this.search('')
    this.unfold(true)
    if (this.hidden.delete(node.type)) this.showChips()
    this.choose(node)
    this.find('details').querySelector('button').focus()
  }

  centre(node) {
    if (node.x === undefined) return
    // what is told of it covers the lower part of the map
    const scale = Math.max(this.graph.zoom(), Math.min(2.2, ROOMY))
    this.graph.zoom(scale, this.motion)
    this.graph.centerAt(node.x, node.y + this.find('details').offsetHeight / 2 / scale, this.motion)
  }

  // --- search, types, view -----------------------------------------------------------------------

  search(text) {
    const words = text.trim().toLowerCase()
    const hits = this.find('hits')
    hits.hidden = !words
    if (!words) return hits.replaceChildren()
    const texts = (node) => [node.id, node.name ?? '', this.labelOf(node)].map((each) => each.toLowerCase())
    const found = this.nodes.filter((node) => texts(node).some((each) => each.includes(words)))
    found.sort((one, other) => !one.id.toLowerCase().startsWith(words) - !other.id.toLowerCase().startsWith(words) || (one.id < other.id ? -1 : 1))
    const items = found.slice(0, HITS).map((node) => made('li', {}, this.buttonOf(node, node.name && node.name !== node.id ? node.name : node.type)))
    if (!this.data.whole) {
      const wider = made('button', { type: 'button', textContent: `Look for “${text.trim()}” in the whole network` })
      wider.onclick = () => (this.search((this.find('search').value = '')), this.tell('searched', text.trim()))
      items.push(made('li', {}, wider))
    } else if (!found.length) {
      items.push(made('li', {}, made('p', { textContent: 'No element has this id or name.' })))
    }
    if (found.length > HITS) items.push(made('li', {}, made('p', { textContent: `${found.length - HITS} more: type more of the name.` })))
    hits.replaceChildren(...items)
  }

  showChips() {
    const counts = new Map()
    for (const node of this.nodes) counts.set(node.type, (counts.get(node.type) ?? 0) + 1)
    const chips = [...counts].map(([type, count]) => {
      const dot = made('span', { className: 'dot' })
      dot.style.setProperty('--dot', this.colour(type))
      const chip = made('button', { type: 'button' }, dot, type, made('b', { textContent: count }))
      chip.setAttribute('aria-pressed', !this.hidden.has(type))
      chip.onclick = () => {
        if (!this.hidden.delete(type)) this.hidden.add(type)
        chip.setAttribute('aria-pressed', !this.hidden.has(type))
        this.graph?.nodeVisibility(this.graph.nodeVisibility()).linkVisibility(this.graph.linkVisibility())
        this.describe()
      }
      chip.oncontextmenu = (event) => (event.preventDefault(), this.openMenu(type))
      return chip
    })
    this.find('chips').replaceChildren(...chips)
  }

  showLegend() {
    const { causes, alerting, down, weakened } = this.marks
    const entries = [
      ['cause', 'suspected cause', causes.size],
      ['alerting', 'alerting', alerting.size],
      ['down', 'down', down.size],
      ['weakened', 'weakened', weakened.size],
    ].filter(([, , count]) => count)
    if (this.way.size) entries.push(['way', 'way of the failure', ''])
    const items = entries.map(([sign, text, count]) => made('li', {}, made('span', { className: `sign ${sign}` }), `${count} ${text}`.trim()))
    this.find('legend').replaceChildren(...items)
  }

  describe() {
    const shown = this.nodes.filter((node) => !this.hidden.has(node.type)).length
    const about = this.chosen ? `, ${this.chosen.id} is chosen` : ''
    this.find('canvas').setAttribute('aria-label', `${shown} elements and ${this.links.length} dependencies${about}`)
  }

  closer() {
    this.graph?.zoom(this.graph.zoom() * 1.5, this.motion)
  }

  farther() {
    this.graph?.zoom(this.graph.zoom() / 1.5, this.motion)
  }

  fit() {
    this.choose(null)
    this.graph?.zoomToFit(this.motion, MARGIN, (node) => !this.hidden.has(node.type))
  }

  refresh() {
    this.tell('refreshed', String(Date.now()))
  }

  unfold(open = !this.find('map').classList.contains('unfolded')) {
    this.find('map').classList.toggle('unfolded', open)
    this.find('unfold').setAttribute('aria-expanded', open)
    this.find('unfold').textContent = open ? 'Hide the map' : 'Show the map'
  }

  // --- how a type is shown -----------------------------------------------------------------------

  openMenu(type, event) {
    const menu = this.find('menu')
    const names = new Set(['id', 'name'])
    for (const node of this.nodes) if (node.type === type) for (const name of Object.keys(node.facts)) names.add(name)
    names.delete('type')
    const fields = made('fieldset', {}, made('legend', { textContent: 'Label' }))
    for (const name of names) {
      const radio = made('input', { type: 'radio', name: 'field', value: name, checked: name === (this.taste.field(type) ?? 'id') })
      radio.onchange = () => (this.taste.change(type, { field: name }), this.redraw())
      fields.append(made('label', {}, radio, name))
    }
    const colour = made('input', { type: 'color', value: this.colour(type) })
    colour.oninput = () => (this.taste.change(type, { colour: colour.value }), this.showChips(), this.redraw())
    const close = made('button', { type: 'button', textContent: 'Close', onclick: () => this.closeMenu() })
    const reset = made('button', { type: 'button', textContent: 'As delivered' })
    reset.onclick = () => (this.taste.change(type, null), this.showChips(), this.redraw(), this.closeMenu())
    menu.replaceChildren(made('h2', { textContent: type }), fields, made('label', {}, colour, 'Colour'), made('footer', {}, close, reset))
    menu.hidden = false
    this.showTip(null)
    const stage = this.find('stage').getBoundingClientRect()
    const at = event ? [event.clientX - stage.left, event.clientY - stage.top] : [8, 8]
    menu.style.left = `${Math.max(8, Math.min(at[0], stage.width - menu.offsetWidth - 8))}px`
    menu.style.top = `${Math.max(8, Math.min(at[1], stage.height - menu.offsetHeight - 8))}px`
    menu.querySelector('input:checked')?.focus()
  }

  closeMenu() {
    this.find('menu').hidden = true
  }

  end() {
    this.resized.disconnect()
    this.dark.removeEventListener('change', this.recolour)
    this.graph?._destructor()
  }
}

const endOf = (end) => (typeof end === 'object' ? end.id : end)

function disc(context, node, radius) {
  context.beginPath()
  context.arc(node.x, node.y, radius, 0, 2 * Math.PI)
}

// Below, above, right and left of an element, as [left, top, right, bottom].
function placesAround({ x, y }, away, width, height) {
  return [
    [x - width / 2, y + away],
    [x - width / 2, y - away - height],
    [x + away, y - height / 2],
    [x - away - width, y - height / 2],
  ].map(([left, top]) => [left, top, left + width, top + height])
}

const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]

function tipOfLink(link) {
  const ends = `${endOf(link.source)} → ${endOf(link.target)}`
  return [made('h2', { textContent: link.type }), made('p', { className: 'sub', textContent: ends }), facts(link.facts)]
}

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.map ??= new NetworkMap(parentElement)
  parentElement.map.update(data, setTriggerValue)
  return () => {
    parentElement.map?.end()
    delete parentElement.map
  }
}
