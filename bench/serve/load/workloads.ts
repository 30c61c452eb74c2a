import { gzipSync } from 'node:zlib'
import { prepareArena } from './arena.ts'
import { cutScript, noise, writeFixtureSite } from './fixtures.ts'
import { preparePageLoad } from './page-load.ts'
import type { PreparedWorkload, Workload, WorkloadRequest } from './workload.ts'
import { prepareZipf } from './zipf.ts'

/** Bytes of brotli in an answer, by the ends of the workloads' names. */
const answerSizes = new Map([
  ['450b', 450],
  ['3k', 3 * 1024],
  ['14k', 14 * 1024],
  ['50k', 50 * 1024],
  ['100k', 100 * 1024],
  ['200k', 200 * 1024],
  ['1024k', 1024 * 1024],
])

/** Workloads for any server, in the order of the tables. */
export const workloads: readonly Workload[] = [
  {
    name: 'bundles50k',
    title: 'Five 50 KB bundles, Accept-Encoding: zstd, br, gzip',
    prepare: () => prepareBundles({}),
  },
  { name: 'variant16k', title: 'A 16 KB variant, Accept-Encoding: gzip', prepare: prepareVariant },
  {
    name: 'not-modified-tag',
    title: '304 by If-None-Match',
    prepare: () => prepareBundles({ isKnown: true }),
  },
  {
    name: 'page-load',
    title: "The first load of examples/spa, in a browser's order",
    prepare: preparePageLoad,
  },
  // With many connections, no answer of 1 MB is whole after a second.
  { name: 'script-1024k', title: '1024 KB of JavaScript', leastSeconds: 3, prepare: prepareLargeScript },
  { name: 'zipf', title: '10,000 files, popularity by Zipf', prepare: prepareZipf },
  ...Array.from(answerSizes, ([size, bytes]) => ({
    name: `answer-${size}`,
    title: `200, ${titleOf(bytes)} of brotli`,
    ...(size === '1024k' && { leastSeconds: 3 }),
    prepare: () => prepareAnswer(size),
  })),
  {
    name: 'answer-304',
    title: '304 by If-None-Match',
    prepare: () => prepareAnswer('14k', { isKnown: true }),
  },
  { name: 'answer-head', title: 'HEAD', prepare: () => prepareAnswer('14k', { method: 'HEAD' }) },
  {
    name: 'answer-connect',
    title: '200, 3 KB of brotli, a new connection for each request',
    prepare: async () => ({ ...(await prepareAnswer('3k')), newConnections: true }),
  },
  // At half of nginx's maximum, no server is at its limit.
  {
    name: 'answer-rate',
    title: "200, 14 KB of brotli, at half of nginx's maximum",
    rateBeside: { server: 'nginx', share: 0.5 },
    prepare: () => prepareAnswer('14k'),
  },
  {
    name: 'arena-static',
    title: "20 files of 3 to 300 KB in turn, as in HttpArena's static profiles",
    prepare: prepareArena,
  },
]

/** Workloads for servers with TLS. */
export const tlsWorkloads: readonly Workload[] = [
  {
    name: 'tls-14k',
    title: '200, 14 KB of brotli, HTTP/1.1 over TLS',
    prepare: async () => ({ ...(await prepareAnswer('14k')), tls: 'http/1.1' }),
  },
  {
    name: 'arena-static-tls',
    title: "20 files of 3 to 300 KB in turn, HTTP/1.1 over TLS, as HttpArena's static-tls",
    prepare: async () => ({ ...(await prepareArena()), tls: 'http/1.1' }),
  },
  {
    name: 'h2-14k',
    title: '200, 14 KB of brotli, HTTP/2 over TLS, 32 streams on each connection',
    prepare: async () => ({ ...(await prepareAnswer('14k')), tls: 'h2', streams: 32 }),
  },
  {
    name: 'arena-static-h2',
    title:
      "20 files of 3 to 300 KB in turn, HTTP/2 over TLS, 32 streams on each connection, as HttpArena's static-h2",
    prepare: async () => ({ ...(await prepareArena()), tls: 'h2', streams: 32 }),
  },
  {
    name: 'tls-connect',
    title: '200, 3 KB of brotli, a full TLS handshake for each request',
    leastSeconds: 3,
    // Fewer handshakes per second than the slowest server can do, so that all servers answer the same number.
    prepare: async () => ({
      ...(await prepareAnswer('3k')),
      tls: 'http/1.1',
      newConnections: true,
      requestsPerSecond: 400,
    }),
  },
]

const page: WorkloadRequest = { target: '/page', file: 'index.html', accept: [] }

/** Workloads for our command with an application of `peers/programs`. */
export const applicationWorkloads: readonly Workload[] = [
  ['page', 'a light page of an application'],
  [
    'page-workers',
    'a light page of an application with --workers 2, servers and load generator on all cores',
  ],
  ['rendered-workers', 'a page that is rendered, with --workers 2, servers and load generator on all cores'],
].map(([name = '', title = '']) => ({
  name,
  title,
  prepare: async () => ({ ...(await prepareAnswer('14k')), requests: [page] }),
}))

/** Files and pages of an application that blocks the JavaScript thread. */
export const blockedWorkload: Workload = {
  name: 'answer-blocked',
  title: '200, 14 KB of brotli, while JavaScript blocks 200 of every 400 ms, one request in 20 a page',
  // 25 blocks, and about 40 answers above the 99th percentile.
  leastSeconds: 10,
  async prepare() {
    const { directory, requests } = await prepareAnswer('14k')
    return {
      directory,
      requests: [...requests, { ...page, isUntimed: true }],
      sequence: Array.from({ length: 20 }, (_, index) => (index === 19 ? 1 : 0)),
      requestsPerSecond: 400,
    }
  },
}

/** Pages that compute without a pause, alone at the limit of the server, and together with files at fixed rates. */
export const computingWorkloads: readonly Workload[] = [
  ...computingPages('5ms', 1_600_000),
  ...computingPages('light', 64_000),
]

/** @param steps - of `computing-application`: 1,000,000 take about three milliseconds. */
function computingPages(size: string, steps: number): readonly Workload[] {
  const title = `pages of ${steps} steps without a pause`
  const prepare = async (isUntimed: boolean): Promise<PreparedWorkload> => {
    const { directory, requests } = await prepareAnswer('14k')
    return {
      directory,
      requests: [{ ...page, target: `/page?${steps}`, isUntimed }, ...requests],
      sequence: [0],
    }
  }
  return [
    { name: `computing-${size}`, title, leastSeconds: 4, prepare: () => prepare(false) },
    ...[200, 2000].map((files) => ({
      name: `computing-${size}-${files}`,
      title: `${title}, at 70 % of the maximum of Node's engine, and ${files} files per second`,
      leastSeconds: 4,
      rateBeside: { server: 'serve-dist-node-computing', share: 0.7, files },
      prepare: () => prepare(true),
    })),
  ]
}

async function prepareBundles(request: Partial<WorkloadRequest>): Promise<PreparedWorkload> {
  const names = [1, 2, 3, 4, 5].map((number) => `assets/bundle-${number}.js`)
  const files = names.map(
    async (name, index) => [name, await cutScript(index * 1_000_000, 50 * 1024)] as const,
  )
  return {
    directory: await writeFixtureSite('bundles', new Map(await Promise.all(files))),
    requests: names.map((file) =>
      Object.assign({ target: `/${file}`, file, accept: ['zstd', 'br', 'gzip'] as const }, request),
    ),
  }
}

/** One variant of 16 KB, in gzip because every peer supports it: the longest script with a gzip variant of that size. */
async function prepareVariant(): Promise<PreparedWorkload> {
  const size = 16 * 1024
  let fits = size
  let tooLong = 16 * size
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (gzipSync(await cutScript(0, middle), { level: 9 }).length <= size) fits = middle
    else tooLong = middle
  }
  const file = 'assets/variant.js'
  const directory = await writeFixtureSite('variant', new Map([[file, await cutScript(0, fits)]]))
  return { directory, requests: [{ target: `/${file}`, file, accept: ['gzip'] }] }
}

async function prepareLargeScript(): Promise<PreparedWorkload> {
  const file = 'assets/script-1024k.js'
  const directory = await writeFixtureSite(
    'large',
    new Map([[file, await cutScript(1_024_000, 1024 * 1024)]]),
  )
  return { directory, requests: [{ target: `/${file}`, file, accept: ['zstd', 'br', 'gzip'] }] }
}

/** A script whose brotli variant has exactly the required size. */
async function prepareAnswer(
  size: string,
  request: Partial<WorkloadRequest> = {},
): Promise<PreparedWorkload> {
  // Six bits of noise in each byte: brotli always removes a quarter of the size.
  const files = Array.from(answerSizes, ([name, bytes]) => {
    return [pathOf(name), Buffer.from(noise(bytes, bytes).toString('base64'))] as const
  })
  const file = pathOf(size)
  return {
    directory: await writeFixtureSite('answers', new Map(files)),
    requests: [{ target: `/${file}`, file, accept: ['br', 'gzip'], ...request }],
  }
}

function pathOf(size: string): string {
  return `assets/answer-${size}.js`
}

function titleOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`
}
