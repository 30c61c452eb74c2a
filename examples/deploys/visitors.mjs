// Visitors of the site: tabs of Chromium if it is available, else plain fetches of the same files.

/** @typedef {{ path: string, status: number }} Loaded */
/** @typedef {{ loaded: Loaded[], shows: string }} Visit */
/** @typedef {{ open(page: string): Promise<Visit> }} Tab */
/** @typedef {{ kind: string, newTab(): Promise<Tab>, close(): Promise<void> }} Visitors */
/** @typedef {{ cached: number, loaded: number, encodedBodySize: number, transferSize: number }} Bytes */
/** @typedef {{ deltas: string, read(pages: string[]): Promise<Bytes>, close(): Promise<void> }} Regular */

/**
 * @param {string} origin
 * @param {boolean} wantsBrowser
 * @returns {Promise<Visitors>}
 */
export async function findVisitors(origin, wantsBrowser) {
  const browser = wantsBrowser ? await launchChromium() : undefined
  if (browser === undefined) {
    return {
      kind: 'plain fetches of what a tab would ask for',
      newTab: async () => fetchingTab(origin),
      close: async () => {},
    }
  }
  return {
    kind: `Chromium ${browser.version()}`,
    // Each tab has its own profile, so tabs do not share a cache.
    newTab: async () => tabOf(await browser.newPage(), origin),
    close: () => browser.close(),
  }
}

/**
 * Starts returning visitors, which open new tabs with the cache of earlier visits: one without deltas, and one with.
 *
 * @param {string} origin
 * @param {boolean} wantsDeltas
 */
export async function findRegulars(origin, wantsDeltas) {
  const without = await launchChromium('--disable-features=CompressionDictionaryTransport')
  const withDeltas = wantsDeltas ? await launchChromium() : undefined
  return [
    ...(without === undefined ? [] : [await regularOf(without, origin, 'without')]),
    ...(withDeltas === undefined ? [] : [await regularOf(withDeltas, origin, 'with')]),
  ]
}

/**
 * @param {import('playwright').Browser} browser
 * @param {string} origin
 * @param {string} deltas
 * @returns {Promise<Regular>}
 */
async function regularOf(browser, origin, deltas) {
  const profile = await browser.newContext()
  return {
    deltas,
    async read(pages) {
      const page = await profile.newPage()
      const tab = tabOf(page, origin)
      for (const path of pages) await tab.open(path)
      const bytes = await page.evaluate(bytesOfVisit)
      await page.close()
      return bytes
    },
    close: () => browser.close(),
  }
}

/** Runs in the browser: adds up Resource Timing of the page and its files. @returns {Bytes} */
function bytesOfVisit() {
  const entries = performance.getEntries().filter((entry) => entry instanceof PerformanceResourceTiming)
  const loaded = entries.filter(({ transferSize }) => transferSize > 0)
  return {
    cached: entries.length - loaded.length,
    loaded: loaded.length,
    encodedBodySize: loaded.reduce((sum, entry) => sum + entry.encodedBodySize, 0),
    transferSize: loaded.reduce((sum, entry) => sum + entry.transferSize, 0),
  }
}

/** @param {string[]} flags */
async function launchChromium(...flags) {
  const playwright = await import('playwright').catch(() => undefined)
  const { CHROMIUM_PATH } = process.env
  const places = CHROMIUM_PATH === undefined ? [undefined, '/usr/bin/chromium'] : [CHROMIUM_PATH]
  for (const executablePath of places) {
    try {
      return await playwright?.chromium.launch({ executablePath, args: ['--no-sandbox', ...flags] })
    } catch {
      // The program is missing or does not start: try the next path.
    }
  }
  return undefined
}

/**
 * @param {import('playwright').Page} tab
 * @param {string} origin
 * @returns {Tab}
 */
function tabOf(tab, origin) {
  /** @type {Loaded[]} */
  let loaded = []
  tab.on('response', (response) => {
    const { protocol, pathname } = new URL(response.url())
    if (protocol === 'http:') loaded.push({ path: pathname, status: response.status() })
  })
  return {
    async open(page) {
      loaded = []
      // The first page comes from the server. Later pages are clicks inside the application.
      if (tab.url() === 'about:blank') await tab.goto(origin + page)
      else await tab.click(`nav a[href="${page}"]`)
      await tab.waitForSelector(`main[data-page="${page}"]`)
      return { loaded, shows: await tab.innerText('h1') }
    },
  }
}

/**
 * @param {string} origin
 * @returns {Tab}
 */
function fetchingTab(origin) {
  let application = ''
  return {
    async open(page) {
      /** @type {Loaded[]} */
      const loaded = []
      const ask = async (/** @type {string} */ path) => {
        const answer = await fetch(origin + path, { headers: { 'sec-fetch-mode': 'navigate' } })
        loaded.push({ path, status: answer.status })
        return answer.text()
      }
      if (application === '') {
        const html = await ask(page)
        for (const [path] of html.matchAll(/\/assets\/[\w-]+\.(?:js|css)/g)) {
          const text = await ask(path)
          if (path.endsWith('.js')) application = text
        }
      }
      // The application contains the names of the lazy chunks of its own build.
      const name = page.slice(1) || 'today'
      const chunks = application.match(new RegExp(`\\b${name}-[\\w-]{8}\\.(?:js|css)`, 'g')) ?? []
      let shows = ''
      for (const chunk of new Set(chunks)) {
        const text = await ask(`/assets/${chunk}`)
        shows ||= /<h1>(.*?)</.exec(text)?.[1] ?? ''
      }
      return { loaded, shows }
    },
  }
}
