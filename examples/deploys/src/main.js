import './main.css'

/** Each page is a separate chunk, which the browser loads at the first visit of the page. */
const pages = {
  '/': () => import('./routes/today.js'),
  '/bread': () => import('./routes/bread.js'),
  '/cakes': () => import('./routes/cakes.js'),
  '/hours': () => import('./routes/hours.js'),
}

const main = document.querySelector('main')

async function show() {
  const { render } = await (pages[location.pathname] ?? pages['/'])()
  main.innerHTML = render()
  main.dataset.page = location.pathname
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('nav a')
  if (link === null) return
  event.preventDefault()
  history.pushState(undefined, '', link.href)
  void show()
})
addEventListener('popstate', () => void show())
await show()
