import fc from 'fast-check'
import { writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest } from '../support/raw-request.ts'
import { startTarget, type Target } from '../support/start-target.ts'
import { supervise } from '../support/supervise.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { availableEngines } from '../support/tested-engine.ts'

const seed = Number(process.env['SERVE_DIST_SEED'] ?? 2026)
const clients = 16
const rounds = 3
const patience = { timeout: 40_000, interval: 5 }

/** The end of a request: the status of a whole answer, or a connection that closes before the end of the answer. */
type Outcome = '200' | '502' | '504' | 'closed'

/** The outcomes that each behaviour of the target allows. */
const outcomesOf = {
  whole: ['200'],
  drip: ['200'],
  stall: ['504'],
  reset: ['502'],
  'reset once': ['200', '502'],
  cut: ['closed', '502'],
  'stall within the body': ['closed'],
} as const satisfies Readonly<Record<string, readonly Outcome[]>>
type Fault = keyof typeof outcomesOf

interface FaultyRequest {
  readonly method: 'GET' | 'DELETE' | 'PUT' | 'POST'
  readonly body: string
  readonly fault: Fault
  /** Whether the connection of the client stays open for the next request. */
  readonly isKept: boolean
}

const faultyRequest: fc.Arbitrary<FaultyRequest> = fc.record({
  method: fc.constantFrom('GET', 'DELETE', 'PUT', 'POST'),
  body: fc.constantFrom('', 'x'.repeat(1000)),
  fault: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fault>('whole') },
    { weight: 2, arbitrary: fc.constant<Fault>('drip') },
    { weight: 3, arbitrary: fc.constantFrom<Fault>('reset', 'reset once', 'cut') },
    { weight: 1, arbitrary: fc.constantFrom<Fault>('stall', 'stall within the body') },
  ),
  isKept: fc.boolean(),
})

/** A target with faults that can die and start again on its port. */
async function startFaultyTarget() {
  /** The number of times that each request arrived, by ID. */
  const arrivals = new Map<string, number>()
  const answer = ({ line }: { line: string }, socket: Socket): void => {
    const [id = '', fault = ''] = readPath(line)
    const text = `HTTP/1.1 200 OK\r\nX-Id: ${id}\r\nContent-Length: ${id.length}\r\n\r\n${id}`
    if (fault === 'reset' || (fault === 'reset once' && arrivals.get(id) === 1)) socket.resetAndDestroy()
    else if (fault === 'cut') socket.end(text.slice(0, -1))
    else if (fault === 'stall within the body') socket.write(text.slice(0, -1))
    else if (fault === 'drip') drip(socket, text)
    else if (fault !== 'stall') socket.write(text)
  }
  const start = async (port = 0): Promise<Target> =>
    await startTarget(answer, {
      port,
      onHead(head) {
        const [id = ''] = readPath(head)
        arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
      },
    })
  let target = await start()
  const { port, url } = target
  let [deaths, isDead] = [0, false]
  return {
    url,
    arrivals,
    deaths: () => deaths,
    isDead: () => isDead,
    async die() {
      isDead = true
      deaths += 1
      await target.die()
    },
    async startAgain() {
      target = await start(port)
      isDead = false
    },
  }
}

/** Returns the ID and the fault in the first line of a request. */
function readPath(line: string): string[] {
  const [, path = ''] = line.split(' ')
  return decodeURIComponent(path).split('/').slice(2)
}

/** Writes an octet in each turn of the event loop. */
function drip(socket: Socket, text: string): void {
  if (text === '' || !socket.writable) return
  socket.write(text.slice(0, 1))
  setImmediate(() => drip(socket, text.slice(1)))
}

describe.skipIf(process.platform === 'win32').each(availableEngines)(
  'two instances with two workers, by the engine %s',
  (engine) => {
    test('give each request one answer, and send none twice, while targets fail, SIGTERM and SIGHUP', async () => {
      const target = await startFaultyTarget()
      const config = join(await temporaryDirectory(), 'rules.json')
      const writeRules = async (stage: number): Promise<void> => {
        const answer = { 'X-Stage': String(stage) }
        const rule = { from: '/api/*', to: target.url, status: 200, force: true, timeout: '3s', answer }
        await writeFile(config, JSON.stringify({ redirects: [rule] }))
      }
      await writeRules(0)
      const directory = await buildFixture({ 'index.html': 'page' })
      const flags = ['--config', config, '--workers', '2', '--engine', engine]
      const supervisor = await supervise([directory, ...flags])
      const instances = [await supervisor.start(), await supervisor.start()]

      const requests = fc.sample(faultyRequest, { numRuns: 100_000, seed }).entries()
      const counts: Record<string, number> = {}
      const stages = new Set<string | undefined>()
      const wrong: string[] = []
      const methods = new Map<string, string>()
      const stopping = new AbortController()
      let outcomes = 0

      const ask = async (connection: Connection, id: string, each: FaultyRequest): Promise<Outcome> => {
        const { method, body, fault, isKept } = each
        const fields = {
          'Content-Length': String(body.length),
          ...(!isKept && { Connection: 'close' }),
        }
        connection.send(
          formatRequest({ method, target: `/api/${id}/${encodeURIComponent(fault)}`, fields }) + body,
        )
        try {
          const response = await connection.receive()
          const { status, field } = response
          if (status === 502 || status === 504) return `${status}`
          stages.add(field('X-Stage'))
          if (status === 200 && field('X-Id') === id && response.body.toString() === id) return '200'
          throw new Error(`${status} ${response.body.toString()}`)
        } catch (error) {
          if (String(error).includes('closed after')) return 'closed'
          throw error
        }
      }

      const runClient = async (): Promise<void> => {
        let connection: Connection | undefined
        for (const [index, each] of requests) {
          if (stopping.signal.aborted) break
          const id = String(index)
          methods.set(id, `${each.method}${each.body}`)
          const deaths = target.deaths()
          const wasDead = target.isDead()
          const isReused = connection !== undefined
          connection ??= await openConnection(supervisor.port)
          const outcome = await ask(connection, id, each).catch(String)
          outcomes += 1
          counts[outcome] = (counts[outcome] ?? 0) + 1
          const allowed: readonly string[] = outcomesOf[each.fault]
          const isAffected = wasDead || deaths !== target.deaths()
          // The server closes idle connections when it stops: the request was never read.
          const isUnread = outcome === 'closed' && isReused && !target.arrivals.has(id)
          const isAllowed =
            allowed.includes(outcome) ||
            isUnread ||
            (isAffected && ['200', '502', '504', 'closed'].includes(outcome))
          if (!isAllowed)
            wrong.push(
              `${each.method} ${each.body.length} ${each.fault}: ${outcome}${isReused ? ' reused' : ''} ${target.arrivals.get(id)}`,
            )
          if (outcome === 'closed' || !each.isKept || connection.socket.readableEnded) {
            const rest = await connection.rest()
            if (outcome !== 'closed' && rest.length > 0) wrong.push(`after the answer: ${rest.toString()}`)
            connection = undefined
          }
        }
        connection?.socket.destroy()
      }
      const running = Promise.all(Array.from({ length: clients }, runClient))
      const progress = async (more: number): Promise<void> => {
        const goal = outcomes + more
        await vi.waitUntil(() => outcomes >= goal, patience)
      }

      const codes = new Set<number>()
      for (let round = 1; round <= rounds; round += 1) {
        await progress(150)
        await writeRules(round)
        for (const instance of instances) process.kill(instance, 'SIGHUP')
        await vi.waitUntil(() => stages.has(String(round)), patience)
        const replace = async (): Promise<void> => {
          codes.add(await supervisor.stop(instances.shift() ?? 0))
          instances.push(await supervisor.start())
        }
        // In turns, an instance stops while the target is down, and while it answers.
        await target.die()
        await progress(50)
        if (round % 2 === 0) await replace()
        await target.startAgain()
        if (round % 2 === 1) await replace()
      }
      await progress(150)
      stopping.abort()
      await running
      for (const instance of instances) codes.add(await supervisor.stop(instance))
      console.log(`${engine}: ${outcomes} requests: ${JSON.stringify(counts)}`)
      expect(wrong).toEqual([])
      expect([...codes]).toEqual([0])
      expect(outcomes).toBe(methods.size)
      expect(Object.keys(counts).toSorted()).toEqual(['200', '502', '504', 'closed'])
      const repeated = [...target.arrivals].filter(([, count]) => count > 1)
      expect(repeated.length).toBeGreaterThan(0)
      expect(
        repeated.filter(([id, count]) => count > 2 || !/^(?:GET|DELETE|PUT)$/.test(methods.get(id) ?? '')),
      ).toEqual([])
    })
  },
)
