import type { Sample } from '../serve/report/report.ts'

/** A value that the native engine must reach. */
export interface Target {
  readonly title: string
  readonly workloads: readonly string[]
  readonly server: string
  readonly quantity: keyof Sample
  /** The server to compare with. If absent, the mark applies to the quantity itself. */
  readonly beside?: string
  /** The meaning of the mark: the largest ratio or quantity, the smallest ratio, or the largest difference. */
  readonly kind: 'at most' | 'at least' | 'at most more'
  readonly mark: number
  readonly aim?: number
}

const small = ['answer-450b', 'answer-3k', 'answer-14k']
const large = ['answer-50k', 'answer-100k', 'answer-200k']
const native = 'serve-dist-native'
const most = { server: native, kind: 'at most' } as const
const cpu = { ...most, quantity: 'cpuMicrosecondsPerRequest' } as const
const computed = { server: 'serve-dist-native-computing', beside: 'serve-dist-node-computing' } as const
const besideFiles = ['5ms', 'light'].flatMap((page) =>
  [200, 2000].map((files) => `computing-${page}-${files}`),
)
const pages = { server: 'serve-dist-native-ssr', beside: 'serve-dist-node-ssr' } as const

/** Targets of the CPU time per request, compared with Debian's nginx and the newest one. */
const besideNginx = [
  { title: '200, 450 B and 3 KB', workloads: ['answer-450b', 'answer-3k'], mark: 0.65 },
  { title: '200, 14 KB', workloads: ['answer-14k'], mark: 0.7 },
  { title: '200, 50 to 200 KB', workloads: large, mark: 0.8 },
  { title: '200, 1 MB', workloads: ['answer-1024k'], mark: 0.9 },
  { title: "HttpArena's mix", workloads: ['arena-static'], mark: 0.95, aim: 0.8 },
  { title: '304, HEAD', workloads: ['answer-304', 'answer-head'], mark: 0.85 },
  { title: 'TLS, HTTP/1.1, 14 KB', workloads: ['tls-14k'], mark: 0.55 },
  { title: 'HTTP/2, 14 KB', workloads: ['h2-14k'], mark: 0.51 },
  { title: "HTTP/2, HttpArena's mix", workloads: ['arena-static-h2'], mark: 0.38 },
  { title: 'new connections, plain', workloads: ['answer-connect'], mark: 0.95 },
  { title: 'TLS handshakes, full', workloads: ['tls-connect'], mark: 0.52 },
]

/** The targets of the engine. */
export const targets: readonly Target[] = [
  ...besideNginx.flatMap((target) => [
    { ...cpu, ...target, beside: 'nginx' },
    { ...cpu, ...target, beside: 'nginx-newest' },
  ]),
  { ...cpu, title: '200, up to 14 KB', workloads: small, beside: 'serve-dist-node', mark: 0.4 },
  { ...cpu, title: '200, up to 14 KB', workloads: small, beside: 'sirv', mark: 0.1 },
  {
    ...most,
    title: "p99 at half of nginx's maximum",
    workloads: ['answer-rate'],
    quantity: 'p99Milliseconds',
    beside: 'nginx',
    mark: 1.2,
  },
  {
    ...most,
    title: 'p99 in ms while JavaScript blocks',
    workloads: ['answer-blocked'],
    server: 'serve-dist-native-blocked',
    quantity: 'p99Milliseconds',
    mark: 5,
    aim: 1,
  },
  {
    ...pages,
    title: 'pages through the relay, µs',
    workloads: ['page'],
    quantity: 'cpuMicrosecondsPerRequest',
    kind: 'at most more',
    mark: 30,
  },
  {
    ...pages,
    title: 'pages of two workers',
    workloads: ['page-workers'],
    quantity: 'requestsPerSecond',
    kind: 'at least',
    mark: 0.93,
  },
  {
    ...pages,
    title: 'rendered pages of two workers',
    workloads: ['rendered-workers'],
    quantity: 'requestsPerSecond',
    kind: 'at least',
    mark: 0.97,
  },
  {
    ...computed,
    title: 'computed pages at the limit',
    workloads: ['computing-5ms', 'computing-light'],
    quantity: 'requestsPerSecond',
    kind: 'at least',
    mark: 0.85,
  },
  {
    ...computed,
    title: 'computed pages at a fixed rate',
    workloads: besideFiles,
    quantity: 'requestsPerSecond',
    kind: 'at least',
    mark: 0.99,
  },
  {
    ...most,
    title: 'p50 in ms of a file beside computed pages',
    workloads: besideFiles,
    server: 'serve-dist-native-computing',
    quantity: 'p50Milliseconds',
    mark: 1,
  },
  {
    ...most,
    title: 'memory of 10,000 files',
    workloads: ['zipf'],
    quantity: 'heldBytes',
    beside: 'serve-dist-node',
    mark: 1.1,
  },
]

/** Returns the value that is compared with the mark: a quantity, a ratio or a difference. */
export function valueOf({ kind }: Pick<Target, 'kind'>, own: number, other?: number): number {
  if (other === undefined) return own
  return kind === 'at most more' ? own - other : own / other
}

/** Returns a value as a share of the largest that the target allows: up to 1, the target is met. */
export function shareOfMark(
  { kind, mark }: Pick<Target, 'kind' | 'mark'>,
  own: number,
  other?: number,
): number {
  const allowed = kind === 'at most more' ? (other ?? 0) + mark : (other ?? 1) * mark
  return kind === 'at least' ? allowed / own : own / allowed
}
