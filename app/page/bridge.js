// Reports clicks on elements with data-kb to Python; copies, follows links and scrolls in the browser.

const COPIED_MS = 1600
const PHONE_WIDTH = 768
const REVEAL_MS = 1500

// The whole address of a link of the page.
const address = (link) => new URL(link, location.href).href

// What a browser draws before the items of lists is no text: without it, nobody could tell the steps of a procedure.
function writeMarkers(answer) {
  for (const item of answer.querySelectorAll('li')) {
    const list = item.parentElement
    const marker = document.createElement('span')
    marker.style.whiteSpace = 'pre'
    marker.textContent = list.matches('ol') ? `${list.start + [...list.children].indexOf(item)}. ` : '- '
    for (let outer = list.parentElement.closest('li'); outer; outer = outer.parentElement.closest('li')) {
      marker.prepend('   ')
    }
    const paragraph = item.querySelector(':scope > p:first-child')
    ;(paragraph ?? item).prepend(marker)
  }
}

// The words of an answer as it is shown, so without what is folded, and the sources that they refer to.
function wordsOf(turn) {
  const answer = turn.querySelector('.kb-answer').cloneNode(true)
  for (const folded of answer.querySelectorAll('.kb-folded:not([open])')) folded.remove()
  for (const summary of answer.querySelectorAll('.kb-folded > summary')) summary.remove()
  const told = new Set([...answer.querySelectorAll('.kb-ref')].map((chip) => chip.textContent))
  for (const chip of answer.querySelectorAll('.kb-ref')) chip.replaceWith(` [${chip.textContent}]`)
  for (const image of answer.querySelectorAll('.kb-image')) image.replaceWith(`[${image.firstChild.alt}]`)
  writeMarkers(answer)
  document.body.append(answer) // innerText has line breaks only for elements that are laid out
  const text = answer.innerText.trim()
  answer.remove()
  const sources = [...turn.querySelectorAll('.kb-source')]
    .filter((source) => [...source.querySelectorAll('.kb-ref')].some((chip) => told.has(chip.textContent)))
    .map(({ dataset }) => `${dataset.words}\n${address(dataset.link)}`)
  return [text, ...sources].join('\n\n')
}

// What the button itself has to be copied: a text, an address of the page, or both.
function wordsOfButton({ text, link }) {
  return [text, link && address(link)].filter(Boolean).join('\n\n')
}

async function copy(button) {
  const turn = button.closest('[class*="st-key-turn-"]')
  await navigator.clipboard.writeText(turn ? wordsOf(turn) : wordsOfButton(button.dataset))
  button.classList.add('kb-copied')
  setTimeout(() => button.classList.remove('kb-copied'), COPIED_MS)
}

const PICTURES_MS = 3000

// On paper nothing is folded, and addresses are whole.
function unfold() {
  for (const link of document.querySelectorAll('.kb-on-paper a')) link.textContent = link.href
  for (const folded of document.querySelectorAll('.kb-folded:not([open])')) folded.open = folded.kbOnPaper = true
}

function foldAgain() {
  for (const folded of document.querySelectorAll('.kb-folded')) {
    if (folded.kbOnPaper) folded.open = folded.kbOnPaper = false
  }
  delete document.documentElement.dataset.kbPrints
  for (const turn of document.querySelectorAll('[data-kb-printed]')) delete turn.dataset.kbPrinted
}

// Prints one answer; the browser's own command prints all of a conversation.
async function printTurn(turn) {
  unfold()
  turn.dataset.kbPrinted = document.documentElement.dataset.kbPrints = 'alone'
  const pictures = [...turn.querySelectorAll('img')]
  for (const picture of pictures) picture.loading = 'eager'
  const drawn = Promise.allSettled(pictures.map((picture) => picture.decode()))
  await Promise.race([drawn, new Promise((resolve) => setTimeout(resolve, PICTURES_MS))])
  print()
}

const WAIT_MS = 30000
const READER_SCROLLS = ['wheel', 'touchstart', 'keydown', 'pointerdown']

const isComplete = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'

// Scrolls to an element as soon as it is there, and again until a while after the page is complete, because images above
// it still load and an answer grows below it; until the reader scrolls.
function keepInView(find, block) {
  const giveUp = Date.now() + WAIT_MS
  let until = giveUp
  const look = setInterval(() => {
    const element = find()
    element?.scrollIntoView({ block })
    if (!element) until = giveUp
    else if (!isComplete()) until = Infinity
    else until = Math.min(until, Date.now() + REVEAL_MS)
    if (Date.now() > until) stop()
  }, 60)
  const stop = () => clearInterval(look)
  for (const input of READER_SCROLLS) document.addEventListener(input, stop, { once: true, passive: true })
}

// what has changed, or the picture of the page, stands above the passage, and is read first
const markInPanel = () =>
  document.querySelector('.st-key-source-panel:not(:has(.kb-panel, .kb-page-picture)) .kb-chosen mark')
const citedSection = () => document.querySelector('.kb-cited mark') ?? document.querySelector('.kb-cited')

function reveal(wanted, component) {
  if (!wanted || component.revealed === wanted) return
  component.revealed = wanted
  const keys = wanted.split(' ').slice(0, -1)
  keepInView(() => document.querySelector(keys.map((key) => `.st-key-${key}`).join()), 'start')
}

// Follows a link within the app as one step of the history. Python's own way to another page makes two steps, and Back
// from it leads to a page that nobody has seen.
function follow(link) {
  history.pushState({}, '', link.href)
  dispatchEvent(new PopStateEvent('popstate', { state: {} }))
}

// A page that is opened, reloaded or come back to at a source or a section shows it.
function arrive(at, component) {
  const before = component.at
  component.at = at
  if (!at || at === before) return
  if (location.pathname.endsWith('knowledge-base')) keepInView(citedSection, 'center')
  else keepInView(markInPanel, 'center')
}

// On a phone the sidebar covers the page: close it after a click in it.
function uncover(event) {
  if (window.innerWidth >= PHONE_WIDTH || !event.target.closest?.('[data-testid="stSidebar"] .stButton')) return
  setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click(), 100)
}

const PREVIEW_WIDTH = 352 // of style.css, in pixels
const POINTING = ['mouseover', 'focusin']

// Keeps the preview of a reference that is pointed at within the answer.
function keepWithin(event) {
  const reference = event.target.closest?.('.kb-ref[data-preview]')
  const answer = reference?.closest('.kb-answer')?.getBoundingClientRect()
  if (!answer) return
  const { left, width } = reference.getBoundingClientRect()
  const half = Math.min(PREVIEW_WIDTH, answer.width) / 2
  const middle = left + width / 2
  const shift = Math.max(answer.left + half, Math.min(middle, answer.right - half)) - middle
  reference.style.setProperty('--kb-shift', `${shift}px`)
}

// Shows a picture as large as the window, in front of the page; a click or Escape closes it.
function enlarge(link) {
  const shown = document.createElement('dialog')
  shown.className = 'kb-enlarged'
  shown.append(link.querySelector('img').cloneNode())
  shown.addEventListener('click', () => shown.close())
  shown.addEventListener('close', () => shown.remove())
  document.body.append(shown)
  shown.showModal()
}

const CLOSE = '.st-key-close-source button'
let opener

// Whoever opens a source with the keyboard goes on reading in its panel.
function enterPanel() {
  const giveUp = Date.now() + WAIT_MS
  const look = setInterval(() => {
    const close = document.querySelector(CLOSE)
    close?.focus({ preventScroll: true })
    if (close || Date.now() > giveUp) clearInterval(look)
  }, 60)
}

// Escape closes the panel of a source, unless it closes something in front of it, and leads back to its reference.
function leave(event) {
  if (event.key !== 'Escape' || document.querySelector('dialog[open], [role="dialog"], [role="listbox"]')) return
  document.querySelector(CLOSE)?.click()
  if (opener?.isConnected) opener.focus({ preventScroll: true })
  opener = undefined
}

const MAY_BE_WIDE = ':is(.kb-answer, .kb-passage) :is(pre, table), .kb-scores, .kb-panel pre'

// What scrolls sideways can be reached with the keyboard; what fits is no stop on the way.
function letReach() {
  for (const each of document.querySelectorAll(MAY_BE_WIDE)) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0
    else each.removeAttribute('tabindex')
  }
}

// Streamlit names the place for files, and says that it is only decoration: it is a group.
function tellOfFiles() {
  for (const each of document.querySelectorAll('[data-testid="stFileUploaderDropzone"][role="presentation"]')) {
    each.setAttribute('role', 'group')
  }
}

let asked = 0
function lookAtAll() {
  cancelAnimationFrame(asked)
  asked = requestAnimationFrame(() => {
    letReach()
    tellOfFiles()
  })
}

export default function ({ data, parentElement, setTriggerValue }) {
  reveal(data?.reveal, parentElement)
  arrive(data?.at, parentElement)
  const clicked = (event) => {
    uncover(event)
    const target = event.target.closest?.('[data-kb], .kb-image, .kb-page-picture a')
    if (!target || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (!target.dataset.kb) return enlarge(target)
    if (target.dataset.kb === 'open') return follow(target)
    if (target.dataset.kb === 'copy') return copy(target)
    if (target.dataset.kb === 'print') return printTurn(target.closest('[class*="st-key-turn-"]'))
    if (target.dataset.kb.startsWith('source:')) {
      setTimeout(() => keepInView(markInPanel, 'center'))
      opener = target
      if (!event.detail) enterPanel() // no click of a mouse or a finger
    }
    setTriggerValue('clicked', target.dataset.kb)
  }
  // Streamlit calls this function again when the data change, and its clean-up only at the end
  document.removeEventListener('click', parentElement.clicked)
  document.addEventListener('click', (parentElement.clicked = clicked))
  // each is one function, however often it is added
  document.addEventListener('keydown', leave)
  addEventListener('beforeprint', unfold)
  addEventListener('afterprint', foldAgain)
  for (const pointing of POINTING) document.addEventListener(pointing, keepWithin)
  parentElement.shown?.disconnect()
  parentElement.shown = new MutationObserver(lookAtAll)
  parentElement.shown.observe(document.body, { childList: true, subtree: true })
  window.addEventListener('resize', lookAtAll)
  lookAtAll()
  document.documentElement.dataset.kbBridge = 'listens'
  return () => {
    document.removeEventListener('click', parentElement.clicked)
    document.removeEventListener('keydown', leave)
    removeEventListener('beforeprint', unfold)
    removeEventListener('afterprint', foldAgain)
    for (const pointing of POINTING) document.removeEventListener(pointing, keepWithin)
    parentElement.shown.disconnect()
    window.removeEventListener('resize', lookAtAll)
    delete document.documentElement.dataset.kbBridge
  }
}
