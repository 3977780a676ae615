// The widget of the knowledge base: a button on a page of another site, and a panel that answers questions.
// It draws what the service sends with createElement and texts alone, never with HTML: no article can run anything here.
(() => {
  const script = document.currentScript
  const { lang, theme = 'light', token } = script.dataset
  const SERVICE = new URL('.', script.src)

  const WORDS = {
    en: {
      title: 'Ask the help', open: 'Ask', close: 'Close', label: 'Your question', send: 'Send', searching: 'Searching …',
      ready: 'Here is the answer.', failed: 'This did not work. Please try again.', more: 'Show more',
      sources: 'Sources', source: 'Source', original: 'Open the original', instead: 'Ask instead', which: 'Which one?',
      asked: 'You asked', talk: 'Answer', tab: 'opens in a new tab',
    },
    de: {
      title: 'Fragen Sie die Hilfe', open: 'Fragen', close: 'Schließen', label: 'Ihre Frage', send: 'Senden',
      searching: 'Suche läuft …', ready: 'Hier ist die Antwort.', failed: 'Das hat nicht geklappt. Bitte noch einmal.',
      more: 'Mehr anzeigen', sources: 'Quellen', source: 'Quelle', original: 'Original öffnen',
      instead: 'Stattdessen fragen', which: 'Welches?', asked: 'Sie fragten', talk: 'Antwort', tab: 'öffnet neuen Tab',
    },
    fr: {
      title: 'Interrogez l’aide', open: 'Demander', close: 'Fermer', label: 'Votre question', send: 'Envoyer',
      searching: 'Recherche …', ready: 'Voici la réponse.', failed: 'Cela n’a pas fonctionné. Réessayez.',
      more: 'Afficher plus', sources: 'Sources', source: 'Source', original: 'Ouvrir l’original',
      instead: 'Demander plutôt', which: 'Lequel ?', asked: 'Vous avez demandé', talk: 'Réponse', tab: 'nouvel onglet',
    },
    es: {
      title: 'Pregunte a la ayuda', open: 'Preguntar', close: 'Cerrar', label: 'Su pregunta', send: 'Enviar',
      searching: 'Buscando …', ready: 'Aquí está la respuesta.', failed: 'No ha funcionado. Inténtelo de nuevo.',
      more: 'Mostrar más', sources: 'Fuentes', source: 'Fuente', original: 'Abrir el original',
      instead: 'Pregunte en su lugar', which: '¿Cuál?', asked: 'Usted preguntó', talk: 'Respuesta', tab: 'pestaña nueva',
    },
  }
  const wanted = (lang || document.documentElement.lang || 'en').slice(0, 2).toLowerCase()
  const language = wanted in WORDS ? wanted : 'en'
  const say = { ...WORDS[language] }
  for (const name of ['title', 'open', 'label']) if (script.dataset[name]) say[name] = script.dataset[name]

  const DARK = `--ink: #e6e9e6; --soft: #1d2326; --muted: #9da8aa; --line: #6b777b; --ground: #14181a;
    --accent: var(--kb-widget-accent-dark, #6cc9be); --on: #10201e; color-scheme: dark;`
  const STYLE = `
    :host { all: initial; --ink: #22272b; --soft: #f3f1ec; --muted: #5a656a; --line: #8a9296; --ground: #fff;
      --accent: var(--kb-widget-accent, #0b6e69); --on: #fff; color-scheme: light; }
    :host([theme='dark']) { ${DARK} }
    @media (prefers-color-scheme: dark) { :host([theme='auto']) { ${DARK} } }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    aside { position: fixed; z-index: 2147483000; right: 1rem; bottom: 1rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); }
    button { font: inherit; cursor: pointer; color: inherit; background: none; border: 1px solid var(--line); border-radius: 8px;
      padding: .4rem .8rem; min-height: 2.5rem; text-align: left; }
    .open, .send { background: var(--accent); color: var(--on); border-color: transparent; font-weight: 600; }
    .open { border-radius: 999px; padding: .6rem 1.3rem; box-shadow: 0 2px 10px rgb(0 0 0 / 25%); }
    :is(button, a, summary, textarea, .talk):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .panel { display: flex; flex-direction: column; width: min(26rem, calc(100vw - 2rem)); height: min(38rem, calc(100vh - 2rem));
      background: var(--ground); border: 1px solid var(--line); border-radius: 14px; box-shadow: 0 6px 30px rgb(0 0 0 / 25%); overflow: hidden; }
    header { display: flex; align-items: center; justify-content: space-between; gap: 1rem; padding: .6rem .6rem .6rem 1rem; border-bottom: 1px solid var(--line); }
    h2 { margin: 0; font-size: 1.05rem; } h3 { margin: 1rem 0 .4rem; font-size: 1rem; }
    .talk { flex: 1; overflow: hidden auto; padding: 0 1rem 1rem; overflow-wrap: anywhere; }
    .talk :is(p, ul, ol, pre, table, blockquote) { margin: 0 0 .7rem; } .talk :is(ul, ol) { padding-left: 1.4rem; }
    .asked { margin: 1rem 0 .7rem; padding: .5rem .8rem; background: var(--soft); border-radius: 10px; font-weight: 600; }
    blockquote { padding-left: .8rem; border-left: 3px solid var(--accent); }
    pre { overflow: auto; padding: .6rem; background: var(--soft); border-radius: 8px; } code { font: .9em ui-monospace, monospace; }
    table { display: block; overflow: auto; border-collapse: collapse; } th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; }
    img { display: block; max-width: 100%; margin: .4rem 0 .8rem; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
    a { color: var(--accent); } summary { cursor: pointer; padding: .25rem 0; }
    .ref { min-height: 1.5rem; min-width: 1.5rem; padding: 0 .4rem; margin: 0 .1rem; border-radius: 999px; font-size: .8rem; color: var(--accent); text-align: center; }
    .options { display: grid; gap: .5rem; } .unseen { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
    .quiet { color: var(--muted); margin: .6rem 1rem; min-height: 1.5rem; }
    form { display: flex; align-items: end; gap: .5rem; padding: .7rem 1rem 1rem; border-top: 1px solid var(--line); }
    form > label { flex: 1; font-size: .85rem; color: var(--muted); }
    textarea { display: block; width: 100%; margin-top: .2rem; padding: .45rem .6rem; font: inherit; font-size: 16px; color: var(--ink);
      background: var(--ground); border: 1px solid var(--line); border-radius: 8px; resize: none; }
    @media (max-width: 480px) { aside.is-open { inset: 0; } .panel { width: 100vw; height: 100dvh; border: 0; border-radius: 0; } }
    @media print { :host { display: none; } }`

  const element = (name, properties = {}, ...content) => {
    const made = document.createElement(name)
    for (const [key, value] of Object.entries(properties)) {
      if (key in made && !key.startsWith('aria')) made[key] = value
      else made.setAttribute(key, value)
    }
    made.append(...content)
    return made
  }

  async function send(path, body) {
    const headers = body ? { 'content-type': 'application/json' } : {}
    const given = token && typeof window[token] === 'function' ? await window[token]() : ''
    if (given) headers.authorization = `Bearer ${given}`
    return fetch(new URL(path, SERVICE), {
      method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), credentials: 'omit', referrerPolicy: 'no-referrer',
    })
  }

  const NAMES = 'p ul ol li blockquote strong em s code pre h3 table thead tbody tr th td br hr'.split(' ')
  const WEB = /^(https?|mailto):/i

  // The description stands in for a picture until it is there, and if it cannot be had.
  function picture(path, alt) {
    const place = element('span', {}, alt)
    if (!path.startsWith('api/widget/images/')) return place
    send(path)
      .then((reply) => (reply.ok ? reply.blob() : Promise.reject(reply.status)))
      .then((data) => {
        const src = URL.createObjectURL(data)
        const image = element('img', { alt, src, onload: () => URL.revokeObjectURL(src) })
        image.decode().then(() => place.replaceWith(image), () => {})
      })
      .catch(() => {})
    return place
  }

  const linkTo = (href, ...content) =>
    WEB.test(href) ? element('a', { href, target: '_blank', rel: 'noopener noreferrer' }, ...content) : element('span', {}, ...content)

  function drawn(node, sources) {
    if (typeof node === 'string') return node
    const [name, value, ...within] = node
    if (name === 'img') return picture(String(value), String(within[0] ?? ''))
    if (name === 'ref') return reference(value, sources)
    const content = within.map((each) => drawn(each, sources))
    if (name === 'a') return linkTo(String(value), ...content)
    const made = element(NAMES.includes(name) ? name : 'span', {}, ...content)
    if (name === 'ol' && Number.isInteger(value)) made.start = value
    return made
  }

  function reference(number, sources) {
    const source = sources.get(number)
    if (!source) return element('span', {}, `[${number}]`)
    const opens = () => {
      source.open = true
      source.firstChild.focus()
      source.scrollIntoView({ block: 'nearest' })
    }
    return element('button', { type: 'button', className: 'ref', 'aria-label': `${say.source} ${number}: ${source.named}`, onclick: opens }, String(number))
  }

  function sourceOf({ number, name, quotes, url }) {
    const original = url && WEB.test(url) ? [element('p', {}, linkTo(url, `${say.original} (${say.tab})`))] : []
    const quoted = quotes.map((quote) => element('blockquote', {}, quote))
    return Object.assign(element('details', {}, element('summary', {}, `${number}  ${name}`), ...quoted, ...original), { named: name })
  }

  function choices(heading, buttons) {
    return buttons.length ? [element('h3', {}, heading), element('div', { className: 'options' }, ...buttons)] : []
  }

  const choice = (text, ...asked) => element('button', { type: 'button', onclick: () => ask(...asked) }, text)

  // Returns what is read out: who sees the answer needs no word of it.
  function show(question, said) {
    const sources = new Map(said.sources.map((source) => [source.number, sourceOf(source)]))
    const answer = said.answer.map((node) => drawn(node, sources))
    const folded = said.more.map((node) => drawn(node, sources))
    talk.replaceChildren(
      element('p', { className: 'asked' }, question),
      ...answer,
      ...(folded.length ? [element('details', {}, element('summary', {}, say.more), ...folded)] : []),
      ...choices(say.which, said.options.map(({ article_id, title }) => choice(title, question, [article_id]))),
      ...choices(say.instead, said.ask_instead.map((instead) => choice(instead, instead))),
      ...(sources.size ? [element('h3', {}, say.sources), ...sources.values()] : []),
    )
    talk.scrollTop = 0
    talk.hidden = false
    return sources.size ? say.ready : answer.map((each) => each.textContent ?? each).join(' ')
  }

  let asking = 0
  async function ask(question, documents = []) {
    const mine = ++asking
    status.className = 'quiet'
    status.textContent = say.searching
    box.focus() // what was clicked goes
    try {
      const reply = await send('api/widget/answer', { question, document_ids: documents })
      const said = await reply.json()
      if (mine !== asking) return
      if (!reply.ok) throw new Error(said.error?.message ?? say.failed)
      status.textContent = show(question, said)
      status.className = 'unseen'
    } catch (error) {
      // what fetch itself throws tells a reader nothing
      if (mine === asking) status.textContent = error instanceof TypeError || error instanceof SyntaxError ? say.failed : error.message
    }
  }

  function toggle(isOpen) {
    panel.hidden = !isOpen
    opener.hidden = isOpen
    whole.classList.toggle('is-open', isOpen)
    ;(isOpen ? box : opener).focus()
  }

  function submit(event) {
    event.preventDefault()
    const question = box.value.trim()
    if (!question) return
    box.value = ''
    ask(question)
  }

  const opener = element('button', { type: 'button', className: 'open', 'aria-haspopup': 'dialog', onclick: () => toggle(true) }, say.open)
  const closer = element('button', { type: 'button', onclick: () => toggle(false) }, say.close)
  const status = element('p', { className: 'quiet', role: 'status' })
  const talk = element('div', { className: 'talk', role: 'region', 'aria-label': say.talk, tabIndex: 0, hidden: true })
  const box = element('textarea', { rows: 2, maxLength: 8000, required: true })
  const sends = (event) => event.key === 'Enter' && !event.shiftKey && !event.isComposing && submit(event)
  box.addEventListener('keydown', sends)
  const form = element('form', { onsubmit: submit }, element('label', {}, say.label, box), element('button', { className: 'send' }, say.send))
  const panel = element(
    'div', { className: 'panel', role: 'dialog', 'aria-label': say.title, hidden: true },
    element('header', {}, element('h2', {}, say.title), closer), talk, status, form,
  )
  panel.addEventListener('keydown', (event) => event.key === 'Escape' && toggle(false))
  const whole = element('aside', { 'aria-label': say.title, lang: language }, opener, panel)

  const host = element('div', { theme: ['dark', 'auto'].includes(theme) ? theme : 'light' })
  host.dataset.kbWidget = ''
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet() // a policy of the page against inline styles does not concern it
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets = [sheet]
  root.append(whole)
  const arrive = () => document.body.append(host)
  if (document.body) arrive()
  else addEventListener('DOMContentLoaded', arrive)
})()
