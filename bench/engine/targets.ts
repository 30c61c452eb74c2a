import type { Sample } from '../serve/report/report.ts'

/** What the native engine must reach, or the reason for more work. */
export interface Target {
  readonly title: string
  readonly workloads: readonly string[]
  readonly server: string
  readonly quantity: keyof Sample
  /** Whose quantity it is measured by; without one, `atMost` and `aim` are the quantity itself. */
  readonly beside?: string
  readonly atMost: number
  readonly aim?: number
}

const small = ['answer-450b', 'answer-3k', 'answer-14k']
const large = ['answer-26k', 'answer-100k', 'answer-200k', 'answer-1024k']
const native = 'serve-dist-native'
const cpu = { server: native, quantity: 'cpuMicrosecondsPerRequest' } as const

/** The workloads of HTTP/1.1 without TLS, with the numbers that the engine was asked for. */
export const targets: readonly Target[] = [
  { ...cpu, title: '200, up to 14 KB', workloads: small, beside: 'nginx', atMost: 0.87, aim: 0.75 },
  { ...cpu, title: '200, up to 14 KB', workloads: small, beside: 'serve-dist-node', atMost: 0.4 },
  { ...cpu, title: '200, up to 14 KB', workloads: small, beside: 'sirv', atMost: 0.1 },
  { ...cpu, title: '200, 26 KB to 1 MB', workloads: large, beside: 'nginx', atMost: 1.05, aim: 0.9 },
  {
    ...cpu,
    title: "HttpArena's mix",
    workloads: ['arena-static'],
    beside: 'nginx',
    atMost: 0.95,
    aim: 0.8,
  },
  {
    ...cpu,
    title: '304, HEAD',
    workloads: ['answer-304', 'answer-head'],
    beside: 'nginx',
    atMost: 0.9,
    aim: 0.75,
  },
  { ...cpu, title: 'new connections', workloads: ['answer-connect'], beside: 'nginx', atMost: 1 },
  {
    title: "p99 at half of nginx's maximum",
    workloads: ['answer-rate'],
    server: native,
    quantity: 'p99Milliseconds',
    beside: 'nginx',
    atMost: 1.2,
  },
  {
    title: 'p99 in ms while JavaScript blocks',
    workloads: ['answer-blocked'],
    server: 'serve-dist-native-blocked',
    quantity: 'p99Milliseconds',
    atMost: 5,
    aim: 1,
  },
  {
    title: 'memory of 10,000 files',
    workloads: ['zipf'],
    server: native,
    quantity: 'heldBytes',
    beside: 'serve-dist-node',
    atMost: 1.1,
  },
]
