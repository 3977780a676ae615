// Waiting and failing: takes a question before Streamlit's scripts have come, keeps what is typed where the line or the
// server is lost, and says so, and what a picture showed that does not come. The words are in the HTML (templates/frame.html).

const APP = '[data-testid="stApp"]'
const BOX = '[data-testid="stChatInputTextArea"]'
const ELEMENT = '[data-testid="stMainBlockContainer"] [data-testid="stElementContainer"]'
const SEND = '[data-testid="stChatInputSubmitButton"]'
const BOX_TO_COME = '.st-key-question' // it is there before the box, whose code is loaded by itself
const DIALOG = '[data-testid="stDialog"]'
const GONE_MS = 2000 // a line that is back sooner was not missed
const LOCKED_MS = 3000 // a question that arrived is shown by then
const FORGOTTEN_MS = 100000 // Streamlit forgets whoever is away for two minutes
const line = document.getElementById('kb-line')
const words = line.dataset
const early = document.querySelector('#kb-waiting textarea')

const stored = (name) => JSON.parse(sessionStorage.getItem(`kb-${name}`))
const store = (name, value) =>
  value ? sessionStorage.setItem(`kb-${name}`, JSON.stringify(value)) : sessionStorage.removeItem(`kb-${name}`)

const app = () => document.querySelector(APP)?.dataset ?? {}
const isConnected = () => app().testConnectionState === 'CONNECTED'
const isRunning = () => app().testScriptState !== 'notRunning'
let isStrange = false // whether the server may know nothing of this page
// Streamlit takes no question while its script runs.
const isReady = () => navigator.onLine && isConnected() && !isRunning() && !isStrange
const box = () => document.querySelector(BOX)
const shown = (text) => [...document.querySelectorAll('.kb-question')].filter((each) => each.textContent.trim() === text).length

// React hears of a value only if it is set as the browser sets it.
function put(text) {
  const field = box()
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, text)
  field.dispatchEvent(new Event('input', { bubbles: true }))
  return field
}

const ENTER = { key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true }
const pressEnter = () => setTimeout(() => box()?.dispatchEvent(new KeyboardEvent('keydown', ENTER)), 50)

// --- what is typed -----------------------------------------------------------------------------------

let isSettled = false // whether nothing that was typed or sent before is missing
let settled // in this box; Streamlit may make another one, without its text

// A question that was sent is kept until the page shows it; "send": it could not be sent yet.
function sending() {
  const text = box()?.value.trim()
  if (!text) return
  store('sent', { text, before: shown(text), conversation: location.search })
  store('draft', null)
}

function typed(event) {
  if (event.target.matches?.(BOX)) store('draft', event.target.value && { text: event.target.value })
}

function pressed(event) {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  const draft = stored('draft')
  if (draft && event.target === document.body && box() !== settled) store('draft', { ...draft, send: true }) // between two boxes
  if (!event.target.matches?.(BOX)) return
  if (isReady()) return sending()
  event.preventDefault()
  event.stopImmediatePropagation()
  keepToSend()
}

function clicked(event) {
  if (!event.target.closest?.(SEND)) return
  if (isReady()) return sending()
  event.preventDefault()
  event.stopImmediatePropagation()
  keepToSend()
}

function keepToSend() {
  const text = box().value.trim()
  if (!text) return
  store('draft', { text, send: true })
  look()
}

// Streamlit opens the box again when the answer to a question ends, which this server has never heard of.
const isLocked = () => isReady() && box()?.disabled && stored('sent')
function unlock() {
  if (isLocked()) setTimeout(() => isLocked() && location.reload(), LOCKED_MS)
}

// What was typed and is not in the box: after a reload, a lost line, or before there was a box.
function settle() {
  const sent = stored('sent')
  if (sent && shown(sent.text) > (sent.conversation === location.search ? sent.before : 0)) store('sent', null)
  const field = box()
  if (!isSettled) unlock()
  if (!isReady() || !field || field.disabled) return
  const draft = stored('draft')
  const lost = stored('sent')
  if (draft && (draft.send || field !== settled)) {
    if (field.value !== draft.text) put(draft.text)
    if (document.activeElement === document.body) field.focus()
    if (draft.send) {
      store('draft', { text: draft.text })
      pressEnter()
    }
  } else if (!isSettled && lost && !field.value) {
    put(lost.text)
    say('notSent')
    document.addEventListener('input', () => say(), { once: true })
  }
  if (!isSettled) store('sent', null)
  isSettled = true
  settled = field
}

// --- before there is a page --------------------------------------------------------------------------

function typeEarly() {
  if (!early) return
  early.value = stored('draft')?.text ?? ''
  early.addEventListener('input', () => store('draft', early.value && { text: early.value }))
  early.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || !early.value.trim()) return
    event.preventDefault()
    store('draft', { text: early.value.trim(), send: true })
    early.readOnly = true
    document.querySelector('#kb-waiting p').textContent = early.dataset.sent
  })
}

// It goes when something of the page is there. Its own box stays until that has a successor: whoever was typing goes on.
function handOver() {
  const waiting = document.getElementById('kb-waiting')
  if (!waiting) return
  const field = box()
  const isThere = document.querySelector(ELEMENT) && (!early || !isRunning())
  if (!field && (!isThere || document.querySelector(BOX_TO_COME))) return
  const wasTyping = early && [early, document.body].includes(document.activeElement)
  const draft = stored('draft')
  waiting.remove() // what it covers takes no focus
  if (!field) return
  if (draft && !field.value) {
    put(draft.text)
    store('draft', draft)
  }
  if (wasTyping) field.focus()
}

// --- the line ----------------------------------------------------------------------------------------

let said
function say(what, ...more) {
  if (said === what) return
  said = what
  line.replaceChildren(...(what ? [words[what], ...more] : []))
}

function reload() {
  const link = document.createElement('a')
  link.href = location.href
  link.textContent = words.reload
  return link
}

// A server that was started anew, or has forgotten this reader, would drop what is clicked or sent: to know what is on the
// page it has to run its script first. Streamlit runs it by itself only if a run was interrupted, and at a step of the
// history. A dialog would close.
function introduce(goneMs) {
  if (document.querySelector(DIALOG) && goneMs < FORGOTTEN_MS) return
  isStrange = true
  if (!isRunning()) dispatchEvent(new PopStateEvent('popstate', { state: {} }))
  setTimeout(() => { isStrange = false; look() }, LOCKED_MS) // it has begun by then
}

let wasConnected = false
let goneSince
function look() {
  const { testConnectionState: state } = app()
  const isOffline = !navigator.onLine
  const isGone = state !== 'CONNECTED' && (wasConnected || state === 'PINGING_SERVER' || state === 'DISCONNECTED_FOREVER')
  if (isOffline || isGone) {
    goneSince ??= Date.now()
    isSettled = false
    document.documentElement.dataset.kbLine = 'lost'
    if (isOffline) say('offline')
    else if (state === 'DISCONNECTED_FOREVER') say('lost', reload())
    else if (Date.now() - goneSince >= GONE_MS) say('unreachable')
    else setTimeout(look, GONE_MS)
    document.querySelector(`${DIALOG}:not(:has([data-testid="stVerticalBlock"])) [aria-label="Close"]`)?.click()
  } else if (state === 'CONNECTED') {
    wasConnected = true
    if (goneSince) {
      askForPicturesAgain()
      introduce(Date.now() - goneSince)
    }
    goneSince = undefined
    if (isRunning()) isStrange = false
    delete document.documentElement.dataset.kbLine
    if (said !== 'notSent') say()
    handOver()
    settle()
  }
}

typeEarly()
new MutationObserver(look).observe(document.documentElement, {
  attributes: true, attributeFilter: ['data-test-connection-state', 'data-test-script-state', 'disabled'], childList: true, subtree: true,
})
for (const change of ['online', 'offline']) addEventListener(change, look)
// before Streamlit hears of them
addEventListener('input', typed, true)
addEventListener('keydown', pressed, true)
addEventListener('click', clicked, true)
// A picture that does not come, such as one of an article that was removed, leaves its words.
function showLost(picture) {
  const told = document.createElement('span')
  told.className = 'kb-lost'
  told.textContent = [words.noPicture, picture.alt].filter(Boolean).join(': ')
  told.kbPicture = picture
  told.kbLink = picture.parentElement
  told.kbLink.replaceWith(told)
}

// Over a line that is back, pictures may come.
function askForPicturesAgain() {
  for (const told of document.querySelectorAll('.kb-lost')) {
    told.kbPicture.src = told.kbPicture.getAttribute('src')
    told.replaceWith(told.kbLink)
  }
}

// a script that does not come leaves nothing but this
addEventListener('error', ({ target }) => {
  if (target.matches?.('script, link') && !app().testConnectionState) say('lost', reload())
  if (target.matches?.('.kb-image img')) showLost(target)
}, true)
look()
