// Reports clicks on elements with data-kb to Python; copies and scrolls in the browser.

const COPIED_MS = 1600
const PHONE_WIDTH = 768
const REVEAL_MS = 1500

function wordsOf(turn) {
  const answer = turn.querySelector('.kb-answer').cloneNode(true)
  for (const chip of answer.querySelectorAll('.kb-ref')) chip.replaceWith(` [${chip.textContent}]`)
  for (const image of answer.querySelectorAll('.kb-image')) image.replaceWith(`[${image.firstChild.alt}]`)
  document.body.append(answer) // innerText has line breaks only for elements that are laid out
  const text = answer.innerText.trim()
  answer.remove()
  const sources = [...turn.querySelectorAll('.kb-source')].map((source) => source.getAttribute('aria-label'))
  return [text, ...sources].join('\n\n')
}

async function copy(button) {
  await navigator.clipboard.writeText(wordsOf(button.closest('[class*="st-key-turn-"]')))
  button.classList.add('kb-copied')
  setTimeout(() => button.classList.remove('kb-copied'), COPIED_MS)
}

function showMark() {
  const look = new MutationObserver(() => {
    const mark = document.querySelector('[role="dialog"] .kb-passage mark')
    if (!mark) return
    look.disconnect()
    setTimeout(() => mark.scrollIntoView({ block: 'center' }), 300)
  })
  look.observe(document.body, { childList: true, subtree: true })
  setTimeout(() => look.disconnect(), 10000)
}

// Streamlit follows content that is added at the bottom until the page is scrolled elsewhere, so an answer that is
// complete at once would be shown from its end. Scroll to its top until Streamlit gives up or the reader scrolls.
function reveal(wanted, component) {
  if (!wanted || component.revealed === wanted) return
  component.revealed = wanted
  const [key] = wanted.split(' ')
  const until = Date.now() + REVEAL_MS
  const look = setInterval(() => {
    const element = document.querySelector(`.st-key-${key}`)
    element?.scrollIntoView({ block: 'start' })
    if (Date.now() > until) stop()
  }, 60)
  const stop = () => clearInterval(look)
  for (const input of ['wheel', 'touchstart', 'keydown', 'pointerdown']) {
    document.addEventListener(input, stop, { once: true, passive: true })
  }
}

// On a phone the sidebar covers the page: close it after a click in it.
function uncover(event) {
  if (window.innerWidth >= PHONE_WIDTH || !event.target.closest?.('[data-testid="stSidebar"] .stButton')) return
  setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click(), 100)
}

export default function ({ data, parentElement, setTriggerValue }) {
  reveal(data?.reveal, parentElement)
  const clicked = (event) => {
    uncover(event)
    const target = event.target.closest?.('[data-kb]')
    if (!target || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    if (target.dataset.kb === 'copy') return copy(target)
    if (target.dataset.kb.startsWith('source:')) showMark()
    setTriggerValue('clicked', target.dataset.kb)
  }
  // Streamlit calls this function again when the data change, and its clean-up only at the end
  document.removeEventListener('click', parentElement.clicked)
  document.addEventListener('click', (parentElement.clicked = clicked))
  document.documentElement.dataset.kbBridge = 'listens'
  return () => {
    document.removeEventListener('click', parentElement.clicked)
    delete document.documentElement.dataset.kbBridge
  }
}
