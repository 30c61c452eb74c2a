import { rename, symlink } from 'node:fs/promises'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import { Agent as TlsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { loadEngine } from '@serve-dist/engine'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest } from '../support/raw-request.ts'
import { fetchWhole, fetchWholeOverHttp2 } from '../support/fetch-whole.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Holdings, type SoakCommand, startSoakCommand } from '../support/soak/soak-command.ts'
import { incompressibleBytes } from '../support/soak/soak-sites.ts'
import { stallingClients } from '../support/soak/stalling-clients.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const seconds = Number(process.env['SERVE_DIST_SOAK_SECONDS'] ?? 160)
/**
 * In seconds. Node does not notice a client that leaves during a blocked write, until its limit of 65
 * seconds.
 */
const warmUp = Math.max(0.4 * seconds, 90)
/** Stalled clients end at the server's own limits if there is time: the two longest take 130 seconds. */
const patience = warmUp > 200 ? Number.POSITIVE_INFINITY : 20
/** Seconds between swaps, and between stalled clients of each kind. */
const pace = 3

/** Over TLS, the native engine is tested if both are available. */
const cases = [
  ['http', 'node'],
  ['https', 'node'],
  ...(typeof loadEngine() === 'string' ? [] : [['http', 'native'] as const]),
] as const

interface Sample {
  readonly minutes: number
  readonly holdings: Holdings
}

// The test counts descriptors in /proc, and requests counts by signals.
describe.skipIf(process.platform !== 'linux')(`for ${seconds} seconds of swaps and stalled clients`, () => {
  test.concurrent.each(cases)(
    'descriptors and memory stay constant: %s by the %s engine',
    async (scheme, engine) => {
      const large = incompressibleBytes(10 * 1024 * 1024)
      const releases = await Promise.all(
        ['one', 'two'].map((name) =>
          buildFixture({
            'index.html': name,
            'app.js': `export default '${name}'`.repeat(200),
            'medium.bin': large.subarray(0, 900_000),
            'large.bin': large,
          }),
        ),
      )
      const directory = join(await temporaryDirectory(), 'dist')
      const deploy = async (turn: number): Promise<void> => {
        await symlink(releases[turn % 2] ?? '', `${directory}.new`)
        await rename(`${directory}.new`, directory)
      }
      await deploy(0)
      const { cert, key } = await writeCertificate()
      const tls = scheme === 'https' ? ['--tls-cert', cert, '--tls-key', key] : []
      const command = await startSoakCommand([directory, '--engine', engine, '--memory-budget', '1m', ...tls])

      const over = new AbortController()
      const ending = { scheme, command, signal: over.signal }
      let swaps = 0
      const work = [
        ask(ending),
        stall(ending),
        engine === 'native' ? runBrokenClients(ending) : Promise.resolve(0),
        every(over.signal, pace, async () => {
          swaps += 1
          await deploy(swaps)
          command.child.kill('SIGHUP')
        }),
      ]
      // A failure ends the test at once, with the output of the server.
      const failed = Promise.all(work).catch((cause: unknown) => {
        throw new Error(`after ${Math.round(performance.now() / 1000)} s: ${command.complaints()}`, { cause })
      })
      const samples = await Promise.race([watch(command), failed.then(() => [])])
      over.abort()
      const [answers, stalled, broken] = await failed

      const slopes = {
        descriptors: slopeOf(samples, ({ descriptors }) => descriptors),
        megabytes: slopeOf(samples, ({ rss }) => rss / 1e6),
      }
      console.log(
        `${scheme}, ${engine}: ${answers} answers, ${swaps} swaps, ${stalled} stalled clients, ${broken} that broke off, a minute:`,
        slopes,
      )
      console.log(samples.map(({ holdings }) => `${holdings.descriptors} ${Math.round(holdings.rss / 1e6)}`))
      expect(swaps).toBeGreaterThan(seconds / pace / 4)
      expect(answers).toBeGreaterThan(seconds)
      for (const { perMinute, mean } of Object.values(slopes)) {
        // The limit for the measured time: a twentieth of the mean, and the noise of few samples.
        expect(perMinute * ((seconds - warmUp) / 60)).toBeLessThan(mean / 20 + 5)
      }
      expect(command.complaints()).not.toMatch(/refused|failed|Error/)
      command.child.kill('SIGTERM')
      expect((await command.exited).code).toBe(0)
    },
    (seconds + 360) * 1000,
  )
})

interface Ending {
  readonly scheme: 'http' | 'https'
  readonly command: SoakCommand
  readonly signal: AbortSignal
}

/**
 * Acts at an interval in seconds until the signal, and later only if an act takes longer. A slow machine must not
 * change the number of open clients. After the signal, acts without a pause until the fewest runs are done. Returns the
 * number of runs.
 */
async function every(
  signal: AbortSignal,
  interval: number,
  act: () => Promise<void>,
  fewest = 0,
): Promise<number> {
  let count = 0
  for (; !signal.aborted || count < fewest; count += 1) {
    const next = delay(interval * 1000, undefined, { signal }).catch(() => undefined)
    await act()
    await next
  }
  return count
}

/** Sends valid requests, and compares each body with its validator. */
async function ask({ scheme, command: { port }, signal }: Ending): Promise<number> {
  const options = { keepAlive: true, maxSockets: 1 }
  const agent = scheme === 'http' ? new Agent(options) : new TlsAgent(options)
  const session =
    scheme === 'https' ? connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }) : undefined
  const wanted = { path: 'app.js', acceptEncoding: 'identity' }
  const askAll = async (): Promise<void> => {
    const got = [
      await fetchWhole({ port, scheme, agent, ...wanted }),
      await fetchWhole({ port, scheme, agent: false, ...wanted, path: 'large.bin' }),
      ...(session === undefined ? [] : [await fetchWholeOverHttp2(session, wanted)]),
    ]
    for (const { status, field, sha256 } of got) {
      expect([status, field('ETag')]).toEqual([200, entityTagOf(sha256)])
    }
  }
  // Two bodies of 10 MB each second would keep a slow machine from opening stalled clients at their pace.
  const count = await every(signal, 1, askAll, seconds + 1)
  agent.destroy()
  session?.close()
  return count
}

/** Repeatedly opens a stalled client of each kind. */
async function stall({ scheme, command: { port }, signal }: Ending): Promise<number> {
  const opened: Socket[] = []
  const ways = Object.values(stallingClients[scheme])
  await every(signal, pace, async () => {
    for (const open of ways) {
      const socket = await open(port)
      opened.push(socket)
      if (patience !== Number.POSITIVE_INFINITY) setTimeout(() => socket.destroy(), patience * 1000)
    }
  })
  for (const socket of opened) socket.destroy()
  return opened.length
}

/**
 * Starts clients that reset their connection in mid-request, or send malformed input. Returns their number.
 */
async function runBrokenClients({ command: { port }, signal }: Ending): Promise<number> {
  const requests = [
    formatRequest({ target: '/large.bin' }),
    formatRequest({ target: '/medium.bin' }).repeat(20),
    formatRequest({ target: '/app.js' }).repeat(500),
    formatRequest({ target: '/none' }).repeat(50),
    `${formatRequest({ method: 'POST', target: '/none', fields: { 'Content-Length': '100000' } })}some of it`,
    `${formatRequest({})}nothing of the kind\r\n\r\n`,
    'GET / HT',
  ]
  let count = 0
  await every(signal, 0.3, async () => {
    for (const request of requests) {
      const connection = await openConnection(port)
      connection.send(request)
      // Some connections are reset before the server reads, some during a response.
      await delay((count % 7) * 3)
      connection.socket.resetAndDestroy()
      count += 1
    }
  })
  return count
}

/** Measures the process twenty times after the warm-up. */
async function watch({ measure }: SoakCommand): Promise<Sample[]> {
  const begun = performance.now()
  await delay(warmUp * 1000)
  const samples: Sample[] = []
  while (samples.length < 20) {
    const next = delay(((seconds - warmUp) / 20) * 1000)
    samples.push({ minutes: (performance.now() - begun) / 60_000, holdings: await measure() })
    await next
  }
  return samples
}

/** Returns the slope of the best line (least squares). */
function slopeOf(
  samples: readonly Sample[],
  valueOf: (holdings: Holdings) => number,
): { perMinute: number; mean: number } {
  const points = samples.map(({ minutes, holdings }) => ({ x: minutes, y: valueOf(holdings) }))
  const mean = meanOf(points.map(({ y }) => y))
  const middle = meanOf(points.map(({ x }) => x))
  const covariance = meanOf(points.map(({ x, y }) => (x - middle) * (y - mean)))
  return { perMinute: covariance / meanOf(points.map(({ x }) => (x - middle) ** 2)), mean }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
