// The source of `virtual:serve-dist/client` for browsers. It must add less than 1 KB to a build.

/// <reference types="vite/client" />
/// <reference path="./client.d.ts" />

// Frames share the storage of their tab, but reload separately from the page.
const key = `serve-dist ${self === top} `
const { type, transferSize } = Object(performance.getEntriesByType('navigation')[0])

/**
 * Storage for the lifetime of the tab: times of reloads, failed files and builds of shown pages.
 *
 * @type {Storage | Record<string, number>}
 */
let tab
try {
  tab = sessionStorage
} catch {
  // Without storage, detect an earlier reload by the navigation type.
  tab = { [key]: type === 'reload' ? Infinity : 0 }
}

let reloadedAt = 0

addEventListener('vite:preloadError', (event) => {
  // Vite also reports exceptions of modules here. A reload would not fix them.
  const failure = key + event.payload
  if (!/module|MIME|preload CSS/.test(failure)) return
  const now = Date.now()
  // After ten seconds, the user has cancelled the reload. Before that, ignore errors of the page that is closing.
  if (now - reloadedAt > 1e4) {
    // Reload at most once a minute, and once an hour for the same file. Offline, a reload would lose the page.
    if (!navigator.onLine || now - tab[key] < 6e4 || now - tab[failure] < 36e5) return
    tab[key] = tab[failure] = now
    // If this throws, do not reload: a tab without storage would reload forever.
    reloadedAt = now
    location.reload()
  }
  event.preventDefault()
})

/**
 * Build ids that the page knows: its own, and those that were announced.
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
      // A page from the back/forward cache or HTTP cache may be older than the current build.
      if (transferSize !== 0 || !tab[shown]) tab[shown] = buildId
      known = { [tab[shown]]: true }
    }
    known[buildId] ??= dispatchEvent(new CustomEvent('serve-dist:update', { detail: { buildId } }))
  } catch {
    // The page is offline, the host has no such file, or the script's format does not support its URL.
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
