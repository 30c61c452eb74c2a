import { loadEngine } from '@serve-dist/engine'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { openConnection } from '../support/open-connection.ts'
import { openListeningSocket } from '../support/open-listening-socket.ts'
import { formatRequest, type RawRequest, rawRequest } from '../support/raw-request.ts'
import { serve } from '../../src/serve/serve.ts'
import { startServer } from '../support/start-server.ts'

const files = {
  'index.html': '<!doctype html><title>First</title>',
  'app.js': compressibleText(4000, 'app'),
  'empty.txt': '',
}

/** The number of requests that reached Node in this process. */
let requests: number
const count = (): void => {
  requests += 1
}
beforeEach(() => {
  requests = 0
  subscribe('http.server.request.start', count)
})
afterEach(() => unsubscribe('http.server.request.start', count))

async function start(
  options: Parameters<typeof startServer>[1] = {},
  directory?: string,
): Promise<{ readonly port: number; readonly ask: (request: RawRequest) => Promise<number> }> {
  const { port } = await startServer(directory ?? (await buildFixture(files)), {
    engine: 'native',
    ...options,
  })
  return {
    port,
    async ask(request) {
      const before = requests
      await rawRequest(port, request)
      return requests - before
    },
  }
}

describe.skipIf(typeof loadEngine() === 'string')('createEngineTransport', () => {
  test('answers without Node after it has seen one request, for every file', async () => {
    const { ask } = await start()
    const chrome = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }
    expect(await ask({ target: '/', fields: chrome })).toBe(1)
    expect(await ask({ target: '/', fields: chrome })).toBe(0)
    expect(await ask({ target: '/app.js?v=1', fields: chrome, method: 'HEAD' })).toBe(0)
    expect(await ask({ target: '/app.js' })).toBe(0)
    expect(await ask({ target: '/app.js', fields: { 'Accept-Encoding': 'br;q=0.5' } })).toBe(1)
    expect(await ask({ target: '/app.js', fields: { 'Accept-Encoding': 'br;q=0.5' } })).toBe(0)
  })

  test('relays requests for hosts that are not allowed, each time', async () => {
    const { ask, port } = await start({ allowHosts: ['a.example'] })
    const other = { Host: 'b.example' }
    expect(await ask({ fields: { Host: 'a.example' } })).toBe(1)
    expect(await ask({ fields: { Host: 'a.example' } })).toBe(0)
    expect([await ask({ fields: other }), await ask({ fields: other })]).toEqual([1, 1])
    expect((await rawRequest(port, { fields: other })).status).toBe(421)
  })

  test('relays requests for anything but files in memory or kept open, each time', async () => {
    const { ask } = await start({ site: { largestBody: 100, openFiles: 0 } })
    await ask({})
    for (const target of ['/app.js', '/empty.txt', '/unknown', '/index.html/']) {
      expect([target, await ask({ target })]).toEqual([target, 1])
      expect([target, await ask({ target })]).toEqual([target, 1])
    }
    expect(await ask({})).toBe(0)
  })

  test('answers from only one build at a time during a swap', async () => {
    const directory = await buildFixture(files)
    const server = await startServer(directory, { engine: 'native' })
    const texts = ['one', 'two', 'three'].map((name) => compressibleText(3000, name))
    const tags = new Map<string, string>()
    const reading = new AbortController()

    const readers = Array.from({ length: 4 }, async () => {
      const connection = await openConnection(server.port)
      const seen: string[] = []
      while (!reading.signal.aborted) {
        connection.send(formatRequest({ target: '/app.js', fields: { 'Accept-Encoding': 'identity' } }))
        const response = await connection.receive()
        const [tag, body] = [response.field('ETag') ?? '', response.body.toString()]
        if ((tags.get(tag) ?? body) !== body) throw new Error(`${tag} identifies two bodies`)
        tags.set(tag, body)
        if (seen.at(-1) !== body) seen.push(body)
      }
      connection.socket.destroy()
      return seen
    })
    for (const text of texts) {
      await replaceBuildIn(directory, { ...files, 'app.js': text })
      expect(await server.reload()).toMatchObject({ status: 'swapped' })
      const { body } = await rawRequest(server.port, { target: '/app.js' })
      expect(body.toString()).toBe(text)
    }
    reading.abort()
    for (const seen of await Promise.all(readers)) {
      expect([files['app.js'], ...texts]).toEqual(expect.arrayContaining(seen))
      // No build appears again after the next one.
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.at(-1)).toBe(texts.at(-1))
    }
  })

  test('listens on all addresses', async () => {
    const { url } = await startServer(await buildFixture(files), { engine: 'native', host: '*' })
    expect(new URL(url).hostname).toBe('localhost')
    const response = await fetch(url.replace('localhost', '[::1]')).catch(async () => await fetch(url))
    expect(await response.text()).toBe(files['index.html'])
  })

  test('reports a host that is not an address of this machine', async () => {
    await expect(start({ host: 'nowhere.invalid' })).rejects.toMatchObject({
      code: 'SD_LISTEN_FAILED',
      message: expect.stringContaining('nowhere.invalid is not an address of this machine'),
    })
  })

  test('reports a port in use like Node', async () => {
    const taken = await openListeningSocket()
    const directory = await buildFixture(files)
    const messages = await Promise.all(
      (['native', 'node'] as const).map(async (engine) => {
        return await serve({ directory, port: taken.port, engine }).catch(String)
      }),
    )
    taken.close()
    expect(messages[0]).toContain(`port ${taken.port} on 127.0.0.1 is in use`)
    expect(messages[0]).toBe(messages[1])
  })
})
