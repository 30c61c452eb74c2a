import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { LoadInput, LoadResult, PlannedRequest } from './workload.ts'
import { percentile } from '../statistics.ts'

const input: LoadInput = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const startedAt = performance.now()
const end = startedAt + input.seconds * 1000
const latencies: number[] = []
let wireBytes = 0
const errors = { status: 0, excess: 0, closed: 0 }
let position = 0
let open = 0

for (let index = 0; index < input.connections; index += 1) openConnection()

function openConnection(): void {
  open += 1
  let isWaiting = true
  let { planned, sentAt, received } = next()
  const socket = connect({ port: input.port, host: '127.0.0.1', noDelay: true }, () =>
    socket.write(planned.text),
  )
  socket.on('data', (part) => {
    wireBytes += part.length
    if (received === 0 && !part.toString('latin1', 0, 12).endsWith(` ${planned.status}`)) errors.status += 1
    received += part.length
    if (received < planned.wireBytes) return
    if (received > planned.wireBytes) errors.excess += 1
    latencies.push(performance.now() - sentAt)
    if (performance.now() >= end || input.newConnections) {
      isWaiting = false
      socket.destroy()
      return
    }
    ;({ planned, sentAt, received } = next())
    socket.write(planned.text)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open -= 1
    if (isWaiting) errors.closed += 1
    if (performance.now() < end) openConnection()
    else if (open === 0) report()
  })
}

interface Exchange {
  readonly planned: PlannedRequest
  readonly sentAt: number
  readonly received: number
}

function next(): Exchange {
  const planned = input.planned[input.sequence[position % input.sequence.length] ?? 0]
  position += 1
  if (planned === undefined) throw new RangeError('the sequence names a request that there is not')
  return { planned, sentAt: performance.now(), received: 0 }
}

function report(): void {
  const result: LoadResult = {
    requests: latencies.length,
    seconds: (performance.now() - startedAt) / 1000,
    wireBytes,
    p50Milliseconds: percentile(latencies, 0.5),
    p99Milliseconds: percentile(latencies, 0.99),
    errors,
  }
  process.stdout.write(JSON.stringify(result))
}
