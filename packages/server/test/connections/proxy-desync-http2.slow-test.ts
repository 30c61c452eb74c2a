import fc from 'fast-check'
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import { expect, test } from 'vitest'
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
import { writeCertificate } from '../support/make-certificate.ts'
import { startServer } from '../support/start-server.ts'
import { availableEngines } from '../support/tested-engine.ts'

const seed = Number(process.env['SERVE_DIST_SEED'] ?? 2026)
const exchangesPerEngine = 3000
const sessionsPerEngine = 8
const streamsPerSession = 8

interface StreamExchange extends Exchange {
  /** Whether the client resets the stream after the request. */
  readonly isCancelled: boolean
}

const exchange: fc.Arbitrary<StreamExchange> = fc
  .tuple(desyncExchange, fc.nat({ max: 9 }))
  .map(([base, chance]) => Object.assign(base, { isCancelled: chance === 0 }))

/** Sends a request in pieces. Returns its outcome, or a description of the wrong answer. */
async function exchangeOver(session: ClientHttp2Session, each: StreamExchange, id: number): Promise<string> {
  const { method, body, hasLength, cuts, fault } = each
  const hasBody = method === 'POST'
  const stream = session.request(
    {
      ':method': method,
      ':path': pathOf(each, id),
      ...(hasBody && hasLength && { 'content-length': body.length }),
    },
    { endStream: !hasBody },
  )
  const over = new Promise<void>((resolve) => {
    stream.once('close', resolve)
    // Node's client never closes a stream if RST_STREAM(NO_ERROR) arrives before this event and during a write.
    stream.once('end', () => {
      if (stream.closed) resolve()
    })
  })
  stream.on('error', () => {
    // The stream has a code.
  })
  const received: { head: IncomingHttpHeaders & IncomingHttpStatusHeader; body: string } = {
    head: {},
    body: '',
  }
  stream.once('response', (head) => {
    received.head = head
  })
  stream.setEncoding('latin1').on('data', (chunk: string) => {
    received.body += chunk
  })
  for (const piece of hasBody ? cutText(body, cuts) : []) {
    if (stream.writable) stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (hasBody) stream.end()
  if (each.isCancelled) stream.close(constants.NGHTTP2_CANCEL)
  await over
  const isWhole = stream.rstCode === constants.NGHTTP2_NO_ERROR
  if (isWhole && received.head[':status'] === 502) return 'failed'
  const isOwn = received.head['x-id'] === String(id) && received.body === bodyOfAnswer(each, id)
  if (isWhole && isOwn) return 'answered'
  if (each.isCancelled) return 'cancelled'
  return fault === 'half' && !isWhole ? 'reset' : `${fault}: ${stream.rstCode} ${JSON.stringify(received)}`
}

test.each(availableEngines)(
  'gives each stream its own answer over HTTP/2, even if the target sends broken HTTP: %s',
  async (engine) => {
    const target = await startDesyncTarget()
    const redirects = [{ from: '/api/*', to: target.url, status: 200, force: true }] as const
    const { port } = await startServer(await buildFixture({ 'index.html': 'page' }), {
      engine,
      tls: await writeCertificate(),
      site: { rules: { redirects } },
    })
    const exchanges = fc.sample(exchange, { numRuns: exchangesPerEngine, seed }).entries()
    const counts: Record<string, number> = {}
    const sessions = Array.from({ length: sessionsPerEngine }, () =>
      connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }),
    )
    const runStreams = async (session: ClientHttp2Session): Promise<void> => {
      // All loops take from the same iterator.
      for (const [id, each] of exchanges) {
        const outcome = await exchangeOver(session, each, id)
        counts[outcome] = (counts[outcome] ?? 0) + 1
      }
    }
    await Promise.all(
      sessions.flatMap((session) => Array.from({ length: streamsPerSession }, () => runStreams(session))),
    )
    for (const session of sessions) session.destroy()
    console.log(`${engine}: ${JSON.stringify(counts)}`)
    const { answered = 0, failed = 0, reset = 0, cancelled = 0, ...wrong } = counts
    expect(wrong).toEqual({})
    expect(answered + failed + reset + cancelled).toBe(exchangesPerEngine)
    expect(answered).toBeGreaterThan(exchangesPerEngine / 3)
    expect(failed).toBeGreaterThan(exchangesPerEngine / 10)
    expect(cancelled).toBeGreaterThan(exchangesPerEngine / 20)
    expectRequestsOnce(target)
  },
)
