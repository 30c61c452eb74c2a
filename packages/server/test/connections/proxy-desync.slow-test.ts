import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import {
  bodyOfAnswer,
  cutText,
  desyncExchange,
  type Exchange,
  expectRequestsOnce,
  pathOf,
  startDesyncTarget,
} from '../support/desync-exchanges.ts'
import { availableEngines } from '../support/tested-engine.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { startServer } from '../support/start-server.ts'
import { startTarget } from '../support/start-target.ts'

const seed = Number(process.env['SERVE_DIST_SEED'] ?? 2026)
const exchangesPerEngine = 10_000
const requestsPerConnection = 20

/** Ways to state the end of a request. The last four are invalid. */
const framings = [
  'valid',
  'valid',
  'valid',
  'valid',
  'extended chunks',
  'both',
  'folded',
  'bare',
  'bad chunk',
] as const
type Framing = (typeof framings)[number]
const isInvalid = (framing: Framing): boolean => !['valid', 'extended chunks'].includes(framing)

interface RawExchange extends Exchange {
  readonly framing: Framing
  /** Whether the next request follows at once. */
  readonly isPipelined: boolean
}

const exchange: fc.Arbitrary<RawExchange> = fc
  .tuple(desyncExchange, fc.constantFrom(...framings), fc.boolean())
  .map(([base, framing, isPipelined]) =>
    Object.assign(base, { framing: base.method === 'POST' ? framing : ('valid' as const), isPipelined }),
  )

const stolen = 'GET /api/stolen HTTP/1.1\r\nHost: a\r\n\r\n'

function formatExchange(exchanged: RawExchange, id: number): string {
  const { method, body, hasLength, framing } = exchanged
  const lines = `${method} ${pathOf(exchanged, id)} HTTP/1.1\r\nHost: a\r\n`
  if (method !== 'POST') return `${lines}\r\n`
  const chunk = (extension: string): string =>
    body === '' ? '' : `${body.length.toString(16)}${extension}\r\n${body}\r\n`
  const chunked = `${lines}Transfer-Encoding: chunked\r\n\r\n`
  const whole = hasLength
    ? `${lines}Content-Length: ${body.length}\r\n\r\n${body}`
    : `${chunked}${chunk('')}0\r\n\r\n`
  const texts: Readonly<Record<Framing, string>> = {
    valid: whole,
    'extended chunks': `${chunked}${chunk(';a="b"')}0\r\n\r\n`,
    both: `${lines}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${stolen}`,
    folded: `${lines}X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${stolen}`,
    bare: `${lines}X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${stolen}`,
    'bad chunk': `${chunked}5;\nabc\r\n0\r\n\r\n${stolen}`,
  }
  return texts[framing]
}

/** Sends the pieces of a text separately, because Nagle's algorithm is off. */
async function sendInPieces(connection: Connection, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    connection.send(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.each(availableEngines)('the engine %s', (engine) => {
  const directory = buildFixture({ 'index.html': 'page', 'api/7': 'file' })
  const serve = async (url: string) => {
    const redirects = [{ from: '/api/*', to: url, status: 200, force: true }] as const
    return await startServer(await directory, { engine, site: { rules: { redirects } } })
  }

  test('gives each request its own answer, even if the target sends broken HTTP', async () => {
    const target = await startDesyncTarget()
    const { port } = await serve(target.url)
    const all = fc.sample(exchange, { numRuns: exchangesPerEngine, seed })
    const counts = { answered: 0, failed: 0, refused: 0, unanswered: 0 }
    let ids = 0
    const refused = new Set<string>()
    const wrong: string[] = []

    /** Sends a pipeline, and compares the answers until the connection is closed. Returns whether it is open. */
    const runPipeline = async (
      connection: Connection,
      pipeline: readonly RawExchange[],
    ): Promise<boolean> => {
      const sent = pipeline.map((each) => {
        ids += 1
        if (isInvalid(each.framing)) refused.add(pathOf(each, ids))
        return { each, id: ids }
      })
      await sendInPieces(
        connection,
        sent.flatMap(({ each, id }) => cutText(formatExchange(each, id), each.cuts)),
      )
      for (const [index, { each, id }] of sent.entries()) {
        const response = await connection.receive(each.method).catch((error: unknown) => {
          if (!String(error).includes('closed after')) throw error
          return undefined
        })
        if (response === undefined) {
          counts.unanswered += sent.length - index
          return false
        }
        const isOwn =
          response.field('X-Id') === String(id) && response.body.toString() === bodyOfAnswer(each, id)
        if (response.status === 502) counts.failed += 1
        else if (isInvalid(each.framing) && response.status === 400) counts.refused += 1
        else if (!isInvalid(each.framing) && response.status === 200 && isOwn) counts.answered += 1
        else wrong.push(`${each.framing}, ${each.fault}: ${response.status} ${response.body.toString()}`)
        if (response.field('Connection') === 'close') {
          counts.unanswered += sent.length - index - 1
          return false
        }
      }
      return true
    }

    const runConnection = async (exchanges: readonly RawExchange[]): Promise<void> => {
      let connection = await openConnection(port)
      let pipeline: RawExchange[] = []
      for (const each of exchanges) {
        pipeline.push(each)
        if (each.isPipelined && each !== exchanges.at(-1)) continue
        if (!(await runPipeline(connection, pipeline))) {
          connection.socket.destroy()
          connection = await openConnection(port)
        }
        pipeline = []
      }
      connection.socket.destroy()
    }
    const batches = Array.from({ length: Math.ceil(all.length / requestsPerConnection) }, (_batch, index) =>
      all.slice(index * requestsPerConnection, (index + 1) * requestsPerConnection),
    )
    for (let index = 0; index < batches.length; index += 16) {
      await Promise.all(batches.slice(index, index + 16).map(runConnection))
    }
    console.log(`${engine}: ${JSON.stringify(counts)}`)
    expect(wrong).toEqual([])
    expect(ids).toBe(exchangesPerEngine)
    expect(counts.answered).toBeGreaterThan(exchangesPerEngine / 4)
    expect(counts.failed).toBeGreaterThan(exchangesPerEngine / 10)
    expect(counts.refused).toBeGreaterThan(exchangesPerEngine / 20)
    expectRequestsOnce(target)
    expect(target.requests.filter(({ line }) => refused.has(line.split(' ')[1] ?? ''))).toEqual([])
  })

  test('answers a pipeline in order, with a cut at any octet', async () => {
    const target = await startTarget(({ line, body }, socket) => {
      const text = `${line.split(' ')[1]} ${body}`
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
    })
    const { port } = await serve(target.url)
    const pipeline = [
      'POST /api/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /',
      'POST /api/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a="b"\r\n0\r\n\r\n0\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /api/3 HTTP/1.1\r\nHost: a\r\n\r\n',
    ].join('')
    const connection = await openConnection(port)
    for (let cut = 1; cut < pipeline.length; cut += 1) {
      await sendInPieces(connection, cutText(pipeline, [cut]))
      const bodies: string[] = []
      while (bodies.length < 4) bodies.push((await connection.receive()).body.toString())
      expect(bodies).toEqual(['/api/1 GET /', '/api/2 0\r\n', 'page', '/api/3 '])
    }
    connection.socket.destroy()
    expect(target.requests).toHaveLength(3 * (pipeline.length - 1))
  })
})
