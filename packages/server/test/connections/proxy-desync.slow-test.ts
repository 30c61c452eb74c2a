import fc from 'fast-check'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { hasNative } from '../support/tested-engine.ts'
import { openConnection } from '../support/open-connection.ts'
import { startServer } from '../support/start-server.ts'
import { type ReceivedRequest, startTarget } from '../support/start-target.ts'

const seed = Number(process.env['SERVE_DIST_SEED'] ?? 2026)
const exchangesPerEngine = 10_000
const requestsPerConnection = 20

const faults = [
  'none',
  'none',
  'none',
  'two answers',
  'too long',
  'early hints',
  'close after',
  'half',
  'no answer',
  'garbage',
  'both lengths',
  'folded',
  'bare line feed',
  'chunk extension',
] as const
type Fault = (typeof faults)[number]

interface Exchange {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly body: string
  readonly isChunked: boolean
  readonly fault: Fault
  readonly cuts: readonly number[]
}

const exchange: fc.Arbitrary<Exchange> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'HEAD'),
  body: fc.constantFrom('', 'GET /api/stolen HTTP/1.1\r\nHost: a\r\n\r\n', '0\r\n\r\n', 'x'.repeat(3000)),
  isChunked: fc.boolean(),
  fault: fc.constantFrom(...faults),
  cuts: fc.array(fc.nat({ max: 200 }), { maxLength: 3 }),
})

/** Writes an answer in pieces, with its fault. The body is the id of the request and its own body. */
function answer(request: ReceivedRequest, socket: Socket): void {
  const [method = '', path = ''] = request.line.split(' ')
  const [, id = '', fault = ''] = /^\/api\/(\d+)\/(.*)$/.exec(decodeURIComponent(path)) ?? []
  const body = `${id} ${request.body.length}`
  const head = 'HTTP/1.1 200 OK\r\n'
  const plain = `${head}X-Id: ${id}\r\nContent-Length: ${body.length}\r\n\r\n${method === 'HEAD' ? '' : body}`
  const texts: Readonly<Record<string, string>> = {
    'two answers': plain + plain.replaceAll(id, 'stolen'),
    'too long': `${plain}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen`,
    'early hints': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${plain}`,
    half: plain.slice(0, -1),
    'no answer': '',
    garbage: '\0\r\n\r\n',
    'both lengths': `${head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nstolen\r\n0\r\n\r\n`,
    folded: `${head}X: a\r\n b\r\nContent-Length: 6\r\n\r\nstolen`,
    'bare line feed': `${head}Content-Length: 6\n\nstolen`,
    'chunk extension': `${head}X-Id: ${id}\r\nTransfer-Encoding: chunked\r\n\r\n${method === 'HEAD' ? '' : `${body.length.toString(16)};a="b"\r\n${body}\r\n0\r\n\r\n`}`,
  }
  const text = texts[fault] ?? plain
  if (['close after', 'half', 'no answer', 'garbage'].includes(fault)) socket.end(text, 'latin1')
  else socket.write(text, 'latin1')
}

function formatExchange({ method, body, isChunked, fault }: Exchange, id: number): string {
  const target = `/api/${id}/${encodeURIComponent(fault)}`
  const lines = `${method} ${target} HTTP/1.1\r\nHost: a\r\n`
  if (method !== 'POST') return `${lines}\r\n`
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  return isChunked
    ? `${lines}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
    : `${lines}Content-Length: ${body.length}\r\n\r\n${body}`
}

describe.each(hasNative ? (['node', 'native'] as const) : (['node'] as const))('the engine %s', (engine) => {
  test('gives each request its own answer, even if the target sends broken HTTP', async () => {
    const target = await startTarget(answer)
    const redirects = [{ from: '/api/*', to: target.url, status: 200, force: true }] as const
    const { port } = await startServer(await buildFixture({ 'index.html': 'page', 'api/7': 'file' }), {
      engine,
      site: { rules: { redirects } },
    })
    const all = fc.sample(exchange, { numRuns: exchangesPerEngine, seed })
    let [answered, failed, id] = [0, 0, 0]
    const sent = new Set<number>()
    const wrong: string[] = []
    const runConnection = async (exchanges: readonly Exchange[]): Promise<void> => {
      let connection = await openConnection(port)
      for (const each of exchanges) {
        id += 1
        const own = id
        sent.add(own)
        const text = formatExchange(each, own)
        // The cut pieces arrive separately, because Nagle's algorithm is off.
        let from = 0
        for (const cut of each.cuts.toSorted((a, b) => a - b)) {
          connection.send(text.slice(from, Math.max(from, cut)))
          from = Math.max(from, cut)
          await new Promise((resolve) => setImmediate(resolve))
        }
        connection.send(text.slice(from))
        try {
          const response = await connection.receive(each.method)
          const body = each.method === 'HEAD' ? '' : `${own} ${each.method === 'POST' ? each.body.length : 0}`
          const isOwn = response.field('X-Id') === String(own) && response.body.toString() === body
          if (response.status === 502) failed += 1
          else if (response.status === 200 && isOwn) answered += 1
          else wrong.push(`${each.fault}: ${response.status} ${response.body.toString()}`)
          if (response.field('Connection') === 'close') throw new Error('closed after')
        } catch (error) {
          if (!String(error).includes('closed after')) throw error
          connection.socket.destroy()
          connection = await openConnection(port)
        }
      }
      connection.socket.destroy()
    }
    const batches = Array.from({ length: Math.ceil(all.length / requestsPerConnection) }, (_batch, index) =>
      all.slice(index * requestsPerConnection, (index + 1) * requestsPerConnection),
    )
    for (let index = 0; index < batches.length; index += 16) {
      await Promise.all(batches.slice(index, index + 16).map(runConnection))
    }
    expect(wrong).toEqual([])
    expect(sent.size).toBe(exchangesPerEngine)
    expect(answered).toBeGreaterThan(exchangesPerEngine / 2)
    expect(failed).toBeGreaterThan(exchangesPerEngine / 10)
    // No body became a request, and only idempotent requests arrived twice.
    expect(target.requests.filter(({ line }) => line.includes('stolen'))).toEqual([])
    const seen = new Map<string, number>()
    for (const { line } of target.requests) seen.set(line, (seen.get(line) ?? 0) + 1)
    const repeated = [...seen].filter(([, count]) => count > 1)
    expect(repeated.filter(([line, count]) => line.startsWith('POST') || count > 2)).toEqual([])
  })
})
