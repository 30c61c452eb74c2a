// The text of `virtual:serve-dist/client` in builds for browsers, to which it is to add less than 1 KB.

/// <reference types="vite/client" />
/// <reference path="./client.d.ts" />

// A frame shares the storage of its tab, and its reload mends no other page.
const key = `serve-dist ${self === top} `
const { type, transferSize } = Object(performance.getEntriesByType('navigation')[0])

/**
 * What lasts as long as the tab: when it was reloaded, for which failures, and the builds of the pages that it showed.
 *
 * @type {Storage | Record<string, number>}
 */
let tab
try {
  tab = sessionStorage
} catch {
  // Then the browser itself remembers one reload.
  tab = { [key]: type === 'reload' ? Infinity : 0 }
}

let reloadedAt = 0

addEventListener('vite:preloadError', (event) => {
  // What a module throws while it runs comes here, too, and would do so again.
  const failure = key + event.payload
  if (!/module|MIME|preload CSS/.test(failure)) return
  const now = Date.now()
  // Ten seconds later the user has chosen to stay. Until then, all errors are those of a page that is being left.
  if (now - reloadedAt > 1e4) {
    // Not again within a minute, and not for the same file within an hour. Offline, a reload would lose the page.
    if (!navigator.onLine || now - tab[key] < 6e4 || now - tab[failure] < 36e5) return
    tab[key] = tab[failure] = now
    // Not where that throws: a tab that cannot remember would be reloaded for ever.
    reloadedAt = now
    location.reload()
  }
  event.preventDefault()
})

/**
 * By id, the builds that the page knows: its own, then those that were announced.
 *
 * @type {Record<string, boolean> | undefined}
 */
let known

async function look() {
  try {
    const { buildId } = await (await fetch('serve-dist:build-url', { cache: 'no-cache' })).json()
    if (!buildId) return
    if (!known) {
      const shown = key + document.lastModified
      // A page that the browser shows again without asking, as after "back", may be older than what is current.
      if (transferSize !== 0 || !tab[shown]) tab[shown] = buildId
      known = { [tab[shown]]: true }
    }
    known[buildId] ??= dispatchEvent(new CustomEvent('serve-dist:update', { detail: { buildId } }))
  } catch {
    // Offline, a host that has no such file, or a script of a format that does not know its URL.
  }
}

/** @type {typeof import('virtual:serve-dist/client').watchForUpdates} */
export const watchForUpdates = ({ interval } = {}) => {
  const lookIfVisible = () => {
    if (!document.hidden) void look()
  }
  document.addEventListener('visibilitychange', lookIfVisible)
  const timer = interval && setInterval(lookIfVisible, interval)
  void look()
  return () => {
    document.removeEventListener('visibilitychange', lookIfVisible)
    clearInterval(timer)
  }
}
