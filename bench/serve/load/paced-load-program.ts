// Sends requests at a fixed rate, whatever the answers take: a latency begins when its request was due.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { LoadInput, LoadResult, PlannedRequest } from './workload.ts'
import { percentile } from '../statistics.ts'

/** A connection that can carry the next request. */
interface Idle {
  send(planned: PlannedRequest, dueAt: number): void
}

const input: LoadInput = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const { requestsPerSecond = 1, seconds, sequence } = input
const total = Math.floor(requestsPerSecond * seconds)
/** Milliseconds that answers may come behind the last request. */
const patience = 5000
/** In milliseconds: requests due before are not timed, since this program compiles itself meanwhile. */
const beginning = 500
const latencies: number[] = []
/** Of requests for which a connection was there: how long after they were due this program sent them. */
const delays: number[] = []
/** For all: an allocation for each answer would make this program collect garbage. */
const buffer = Buffer.alloc(256 * 1024)
/** When requests last found no connection. */
let starvedAt = 0
const idle: Idle[] = []
const sockets: Socket[] = []
const errors = { status: 0, excess: 0, closed: 0, late: 0 }
let wireBytes = 0
let sent = 0
let answered = 0

for (let index = 0; index < input.connections; index += 1) idle.push(await openConnection())
const startedAt = performance.now()
keepPace()

/** Asks the clock again and again: a timer is late by up to a millisecond. */
function keepPace(): void {
  const elapsed = performance.now() - startedAt
  sendWhatIsDue(elapsed)
  if (answered === total || elapsed > seconds * 1000 + patience) report(elapsed)
  else setImmediate(keepPace)
}

function sendWhatIsDue(elapsed: number): void {
  for (;;) {
    const dueAt = (sent * 1000) / requestsPerSecond
    if (sent === total || dueAt > elapsed) return
    if (idle.length === 0) {
      starvedAt = elapsed
      return
    }
    if (dueAt >= beginning && dueAt > starvedAt) delays.push(elapsed - dueAt)
    const planned = input.planned[sequence[sent % sequence.length] ?? 0]
    if (planned === undefined) throw new RangeError('the sequence names a request that there is not')
    idle.shift()?.send(planned, dueAt)
    sent += 1
  }
}

async function openConnection(): Promise<Idle> {
  return new Promise((resolve) => {
    let [under, dueAt, received]: [PlannedRequest | undefined, number, number] = [undefined, 0, 0]
    const onread = { buffer, callback: receive }
    const socket = connect({ port: input.port, host: '127.0.0.1', noDelay: true, onread }, () => resolve(own))
    const own: Idle = {
      send(planned, due) {
        ;[under, dueAt, received] = [planned, due, 0]
        socket.write(planned.text)
      },
    }
    sockets.push(socket)
    function receive(bytes: number): boolean {
      wireBytes += bytes
      if (under === undefined) return true
      if (received === 0 && !buffer.toString('latin1', 0, 12).endsWith(` ${under.status}`)) errors.status += 1
      received += bytes
      if (received < under.wireBytes) return true
      if (received > under.wireBytes) errors.excess += 1
      if (!under.isUntimed && dueAt >= beginning) latencies.push(performance.now() - startedAt - dueAt)
      under = undefined
      answered += 1
      idle.push(own)
      return true
    }
    socket.on('error', () => {})
    socket.on('close', () => {
      errors.closed += 1
    })
  })
}

function report(elapsed: number): void {
  errors.late = total - answered
  const result: LoadResult = {
    requests: answered,
    seconds: elapsed / 1000,
    wireBytes,
    p50Milliseconds: percentile(latencies, 0.5),
    p99Milliseconds: percentile(latencies, 0.99),
    lateMilliseconds: percentile(delays, 0.99),
    errors,
  }
  process.stdout.write(JSON.stringify(result))
  for (const socket of sockets) socket.destroy()
}
