import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { loadEngine } from '../../packages/engine/dist/index.js'
import { buildExample } from '../src/build-example.ts'
import type { BuiltExample } from '../src/built-example.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { sendRequest } from '../src/send-request.ts'
import { startCommand } from '../src/start-command.ts'

const project = fileURLToPath(new URL('../../examples/ssr', import.meta.url))
const asking = 'Asking the stations'
const outlook = /North Pier(?:<!-- -->)?: (?:<!-- -->)?18/

let example: BuiltExample
beforeAll(async () => {
  example = await buildExample('ssr', project)
})

const startByEngine = (engine: string) => () =>
  startCommand(example.command, {
    args: ['dist/client', '--ssr', 'dist/server/entry-server.js', '--port', '0', '--engine', engine],
    cwd: project,
  })

const hosts: readonly (readonly [string, () => Promise<{ readonly url: URL; stop(): Promise<unknown> }>])[] =
  [
    ["the command by Node's engine", startByEngine('node')],
    ...(typeof loadEngine() === 'string'
      ? []
      : [['the command by the native engine', startByEngine('native')] as const]),
    [
      'Fastify',
      () =>
        startCommand([process.execPath], { args: ['fastify.js'], cwd: project, environment: { PORT: '0' } }),
    ],
  ]

describe.each(hosts)('examples/ssr in %s', (_host, start) => {
  let url: URL
  let stop: () => Promise<unknown>
  beforeAll(async () => {
    const running = await start()
    url = running.url
    stop = () => running.stop()
  })
  afterAll(() => stop?.())

  test('streams the page: its frame arrives before the slow part', async () => {
    const response = await fetch(url)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    const pieces: string[] = []
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) pieces.push(piece)
    expect(pieces[0]).toContain(asking)
    expect(pieces[0]).not.toMatch(outlook)
    expect(pieces.join('')).toMatch(outlook)
  })

  test('serves the API, and files of the build', async () => {
    const api = await sendRequest(new URL('api/forecast', url))
    expect([api.status, JSON.parse(api.body.toString())]).toEqual([200, { place: 'North Pier', degrees: 18 }])
    const page = (await sendRequest(url)).body.toString()
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? ''
    const asset = await sendRequest(new URL(script, url), { headers: { 'accept-encoding': 'br' } })
    expect(asset).toMatchObject({
      status: 200,
      headers: {
        'content-encoding': 'br',
        'content-length': String(asset.body.length),
        'cache-control': 'public, max-age=31536000, immutable',
      },
    })
    const vite = await sendRequest(new URL('.vite/manifest.json', url))
    expect(vite.status).toBe(404)
  })

  test('reads uploads while they arrive', async () => {
    const photo = Buffer.alloc(3_000_000, 'clouds')
    const half = photo.length / 2
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(photo.subarray(0, half))
        setTimeout(() => {
          controller.enqueue(photo.subarray(half))
          controller.close()
        }, 50)
      },
    })
    const upload: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
    const response = await fetch(new URL('api/photos', url), upload)
    const sha256 = createHash('sha256').update(photo).digest('hex')
    expect([response.status, await response.json()]).toEqual([201, { bytes: photo.length, sha256 }])
  })

  test('shows the wind over a WebSocket', async () => {
    const gauge = new WebSocket(new URL('api/wind', url))
    const [reading] = await once(gauge, 'message')
    expect(JSON.parse(String(reading))).toEqual({ place: 'North Pier', knots: 11 })
    gauge.close()
  })

  describe.skipIf(chromiumPath === undefined)('in Chromium', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchChromium()
    })
    afterAll(() => browser?.close())

    test('shows the frame first, then the rest, and hydrates', async () => {
      const { page, complaints } = await openPage(browser)
      // Observed in the page, because a busy test machine could miss it.
      await page.addInitScript((frame) => {
        const observer = new MutationObserver(() => {
          if (document.body?.textContent.includes(frame)) document.documentElement.dataset['sawFrame'] = ''
        })
        observer.observe(document, { childList: true, subtree: true })
      }, asking)
      await page.goto(url.href, { waitUntil: 'commit' })
      await page.getByText('North Pier: 18 degrees').waitFor()
      expect(await page.locator('html[data-saw-frame]').count()).toBe(1)
      expect(await page.getByText(asking).count()).toBe(0)
      const button = page.getByRole('button')
      await page.waitForLoadState('networkidle')
      await button.click()
      expect(await button.innerText()).toBe('Looked out of the window: 1')
      expect(complaints).toEqual([])
    })
  })
})

describe('examples/ssr in the command', () => {
  test('compresses the page while it streams', async () => {
    const running = await startCommand(example.command, {
      args: ['dist/client', '--ssr', 'dist/server/entry-server.js', '--port', '0'],
      cwd: project,
    })
    try {
      // If fetch returns decoded text early, the encoder has flushed early.
      const response = await fetch(running.url, { headers: { 'Accept-Encoding': 'br' } })
      expect(response.headers.get('Content-Encoding')).toBe('br')
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      const first = await reader?.read()
      expect(first?.value).toContain(asking)
      expect(first?.value).not.toMatch(outlook)
      await reader?.cancel()
    } finally {
      await running.stop()
    }
  })
})
