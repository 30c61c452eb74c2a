import { createServer } from 'node:http'
import { chromium } from 'playwright'
import { findChromium } from '../../../../scripts/find-chromium.mjs'

/** Path of Chromium. If `undefined`, the tests are skipped. */
export const chromiumPath: string | undefined = findChromium(chromium.executablePath())

/** The result of loading a page. */
interface Outcome {
  /** The hashes that Chromium reports as missing, sorted. It reports none of event handlers. */
  readonly hashes: readonly string[]
  /** Directive and sample of each violation, sorted, without duplicates. */
  readonly violations: readonly string[]
  /** Console output of the page's scripts, sorted. */
  readonly ran: readonly string[]
  /** Number of applied stylesheets and `style` declarations in all documents and open shadow roots. */
  readonly styles: string
}

/** A real Chromium that opens pages. */
export interface Chromium {
  /** Opens a page, clicks elements with listeners, and returns the result. */
  open(body: string | Uint8Array, policy?: Readonly<Record<string, string>>): Promise<Outcome>
  close(): Promise<void>
}

export async function startChromium(): Promise<Chromium> {
  if (chromiumPath === undefined) throw new Error('Chromium not found. Set CHROMIUM_PATH.')
  let sent: { body: string | Uint8Array; headers: Readonly<Record<string, string>> } = {
    body: '',
    headers: {},
  }
  const server = createServer(({ url }, response) => {
    const isPage = url === '/page.html'
    response.writeHead(isPage ? 200 : 404, {
      'Content-Type': 'text/html; charset=utf-8',
      ...(isPage && sent.headers),
    })
    response.end(isPage ? sent.body : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
  const page = await browser.newPage()
  const lines: string[] = []
  page.on('console', (message) => lines.push(message.text()))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, sample }) =>
      console.log(`violation ${effectiveDirective} ${JSON.stringify(sample)}`),
    )
  })
  return {
    open: async (body, headers = {}) => {
      sent = { body, headers }
      // After this, no console line of the earlier page arrives.
      await page.goto('about:blank')
      lines.length = 0
      await page.goto(`http://127.0.0.1:${port}/page.html`)
      const styles = await page.evaluate(countStyles)
      // Browsers report violations in separate tasks.
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)))
      // A sandboxed frame has its own process. Its console lines arrive before this answer.
      await Promise.all(page.frames().map((frame) => frame.evaluate(() => undefined)))
      return { ...readLines(lines), styles }
    },
    close: async () => {
      await browser.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function sorted(found: readonly string[]): string[] {
  return [...new Set(found)].toSorted()
}

function readLines(lines: readonly string[]): Omit<Outcome, 'styles'> {
  const all = lines.join('\n')
  return {
    hashes: sorted([...all.matchAll(/a hash \('(sha256-[\w+/=]+)'\)/g)].map(([, hash = '']) => hash)),
    violations: sorted(lines.filter((line) => line.startsWith('violation ')).map((line) => line.slice(10))),
    ran: lines.filter((line) => line.startsWith('ran ')).toSorted(),
  }
}

function countStyles(): string {
  const count = (root: Document | ShadowRoot): string => {
    const elements = [...root.querySelectorAll('*')]
    const own = [
      [...root.styleSheets].map(({ cssRules }) => cssRules.length),
      elements.map((element) => (element instanceof HTMLElement ? element.style.length : 0)).join(''),
    ].join(':')
    const inner = elements.flatMap((element) => [
      ...(element.shadowRoot ? [count(element.shadowRoot)] : []),
      ...(element instanceof HTMLIFrameElement && element.contentDocument
        ? [count(element.contentDocument)]
        : []),
    ])
    for (const element of elements)
      if (element.hasAttribute('onclick')) element.dispatchEvent(new Event('click'))
    return [own, ...inner].join(' ')
  }
  return count(document)
}
