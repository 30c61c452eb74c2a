// Sends requests over its own sockets: each socket sends the next request after its answer, or all sockets send at a fixed
// rate, even if answers are late. At a fixed rate, a latency begins at the time when the request was due.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { LoadInput, LoadResult, PlannedRequest } from './workload.ts'
import { percentile } from '../statistics.ts'

interface Connection {
  send(planned: PlannedRequest, dueAt: number): void
  end(): void
}

const input: LoadInput = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const { requestsPerSecond, seconds, sequence, connections } = input
const total = Math.floor((requestsPerSecond ?? Number.POSITIVE_INFINITY) * seconds)
/** Milliseconds that the program waits for answers after the last request. */
const patience = 5000
/** In milliseconds: at a fixed rate, earlier requests are not timed, because V8 still compiles this program. */
const beginning = requestsPerSecond === undefined ? 0 : 500
/** One buffer for all answers, because allocations would cause garbage collections. */
const buffer = Buffer.alloc(256 * 1024)
const latencies: number[] = []
/** Delays of sending, only of requests that had a free connection when they were due. */
const delays: number[] = []
const errors = { status: 0, excess: 0, closed: 0, late: 0 }
const opened: Connection[] = []
const idle: Connection[] = []
/** The last time when a request had no free connection. */
let starvedAt = 0
let wireBytes = 0
let sent = 0
let answered = 0
let ended = 0
let startedAt = performance.now()

for (let index = 0; index < connections; index += 1) {
  openConnection(requestsPerSecond === undefined ? sendNext : beginWithLast)
}

function sendNext(connection: Connection): void {
  if (elapsed() < seconds * 1000) connection.send(nextRequest(), elapsed())
  else endOne(connection)
}

function endOne(connection: Connection): void {
  connection.end()
  ended += 1
  if (ended === connections) report()
}

/** Sends at the rate after all connections are open. */
function beginWithLast(connection: Connection): void {
  idle.push(connection)
  if (sent > 0) return
  opened.push(connection)
  if (opened.length < connections) return
  startedAt = performance.now()
  keepPace()
}

/** Polls the clock, because a timer is late by up to a millisecond. */
function keepPace(): void {
  sendWhatIsDue(requestsPerSecond ?? 1)
  if (answered < total && elapsed() <= seconds * 1000 + patience) {
    setImmediate(keepPace)
    return
  }
  errors.late = total - answered
  report()
  for (const connection of opened) connection.end()
}

function sendWhatIsDue(rate: number): void {
  for (;;) {
    const now = elapsed()
    const dueAt = (sent * 1000) / rate
    if (sent === total || dueAt > now) return
    const connection = idle.shift()
    if (connection === undefined) {
      starvedAt = now
      return
    }
    if (dueAt >= beginning && dueAt > starvedAt) delays.push(now - dueAt)
    connection.send(nextRequest(), dueAt)
  }
}

function nextRequest(): PlannedRequest {
  const planned = input.planned[sequence[sent % sequence.length] ?? 0]
  sent += 1
  if (planned === undefined) throw new RangeError('the sequence has an index beyond the requests')
  return planned
}

/** Calls back when the connection is open, and after each whole answer. */
function openConnection(onReady: (connection: Connection) => void): void {
  let [planned, dueAt, received]: [PlannedRequest | undefined, number, number] = [undefined, 0, 0]
  let isEnded = false
  const connection: Connection = {
    send(next, due) {
      ;[planned, dueAt, received] = [next, due, 0]
      socket.write(next.text)
    },
    end() {
      isEnded = true
      socket.destroy()
    },
  }
  const onread = { buffer, callback: receive }
  const socket = connect({ port: input.port, host: '127.0.0.1', noDelay: true, onread }, () =>
    onReady(connection),
  )
  socket.on('error', () => {})
  socket.on('close', () => {
    if (isEnded) return
    errors.closed += 1
    if (requestsPerSecond === undefined) endOne(connection)
  })

  function receive(bytes: number): boolean {
    wireBytes += bytes
    if (planned === undefined) return true
    if (received === 0 && !buffer.toString('latin1', 0, 12).endsWith(` ${planned.status}`)) errors.status += 1
    received += bytes
    if (received < planned.wireBytes) return true
    if (received > planned.wireBytes) errors.excess += 1
    if (!planned.isUntimed && dueAt >= beginning) latencies.push(elapsed() - dueAt)
    planned = undefined
    answered += 1
    if (input.newConnections === true) {
      connection.end()
      openConnection(onReady)
    } else onReady(connection)
    return true
  }
}

function elapsed(): number {
  return performance.now() - startedAt
}

function report(): void {
  const result: LoadResult = {
    requests: answered,
    seconds: elapsed() / 1000,
    wireBytes,
    p50Milliseconds: percentile(latencies, 0.5),
    p99Milliseconds: percentile(latencies, 0.99),
    ...(delays.length > 0 && { lateMilliseconds: percentile(delays, 0.99) }),
    errors,
  }
  process.stdout.write(JSON.stringify(result))
}
