import { noise, writeFixtureSite } from './fixtures.ts'
import type { PreparedWorkload, Workload, WorkloadRequest } from './workload.ts'

/** Bytes of brotli that one answer has, by the names of their workloads. */
const sizes = new Map([
  ['450b', 450],
  ['3k', 3 * 1024],
  ['14k', 14 * 1024],
  ['26k', 26 * 1024],
  ['100k', 100 * 1024],
  ['200k', 200 * 1024],
  ['1024k', 1024 * 1024],
])

/** One script of each size, in brotli as all peers have it on the disk. */
export const answerSizes: readonly Workload[] = Array.from(sizes.keys(), (size) => ({
  name: `answer-${size}`,
  title: `200, ${titleOf(size)} of brotli`,
  // With many connections no answer of the largest is whole after a second.
  ...(size === '1024k' && { leastSeconds: 3 }),
  prepare: () => prepareAnswer(size),
}))

/** The same file, known to the client. */
export const answerNotModified: Workload = {
  name: 'answer-304',
  title: '304 by If-None-Match',
  prepare: () => prepareAnswer('14k', { condition: 'If-None-Match' }),
}

/** The same file, the head alone. */
export const answerHead: Workload = {
  name: 'answer-head',
  title: 'HEAD',
  prepare: () => prepareAnswer('14k', { method: 'HEAD' }),
}

/** A connection for each answer. */
export const answerNewConnection: Workload = {
  name: 'answer-connect',
  title: '200, 3 KB of brotli, a new connection for each request',
  prepare: async () => ({ ...(await prepareAnswer('3k')), newConnections: true }),
}

/** HTTP/1.1 over TLS, on connections that stay. */
export const answerTls: Workload = {
  name: 'tls-14k',
  title: '200, 14 KB of brotli, HTTP/1.1 over TLS',
  prepare: async () => ({ ...(await prepareAnswer('14k')), tls: 'http/1.1' }),
}

/** HTTP/2 over TLS. */
export const answerHttp2: Workload = {
  name: 'h2-14k',
  title: '200, 14 KB of brotli, HTTP/2 over TLS, 32 streams on each connection',
  prepare: async () => ({ ...(await prepareAnswer('14k')), tls: 'h2', streams: 32 }),
}

/**
 * A client that has not been there before for each answer: a full handshake. Fewer a second than any of the servers can,
 * so that all answer as many.
 */
export const answerHandshake: Workload = {
  name: 'tls-connect',
  title: '200, 3 KB of brotli, a full TLS handshake for each request',
  leastSeconds: 3,
  prepare: async () => ({
    ...(await prepareAnswer('3k')),
    tls: 'http/1.1',
    newConnections: true,
    requestsPerSecond: 400,
  }),
}

/** Half of what nginx can: how long answers take where no server is at its end. */
export const answerAtRate: Workload = {
  name: 'answer-rate',
  title: "200, 14 KB of brotli, at half of nginx's maximum",
  rateBeside: { server: 'nginx', share: 0.5 },
  prepare: () => prepareAnswer('14k'),
}

/** Pages of an application that does next to nothing (`light-application`). */
export const pages: Workload = {
  name: 'page',
  title: 'a light page of an application',
  prepare: preparePages,
}

/** The same of two processes, on cores that they share with the load generator. */
export const pagesOfWorkers: Workload = {
  name: 'page-workers',
  title: 'a light page of an application with --workers 2, servers and load generator on all cores',
  prepare: preparePages,
}

/** The same of an application that renders for each (`rendering-application`). */
export const renderedPagesOfWorkers: Workload = {
  name: 'rendered-workers',
  title: 'a page that is rendered, with --workers 2, servers and load generator on all cores',
  prepare: preparePages,
}

/** Files beside pages of an application that holds the JavaScript thread up (`blocking-application`). */
export const answerWhileBlocked: Workload = {
  name: 'answer-blocked',
  title: '200, 14 KB of brotli, while JavaScript blocks 200 of every 400 ms, one request in 20 a page',
  // 25 times that it blocks, and some 40 answers above the 99th of a hundred.
  leastSeconds: 10,
  async prepare() {
    const { directory, requests } = await prepareAnswer('14k')
    return {
      directory,
      requests: [...requests, { ...page, isUntimed: true }],
      sequence: Array.from({ length: 20 }, (_, index) => (index === 19 ? 1 : 0)),
      newConnections: false,
      requestsPerSecond: 400,
    }
  },
}

const page: WorkloadRequest = { target: '/page', file: 'index.html', method: 'GET', accept: [] }

async function preparePages(): Promise<PreparedWorkload> {
  return { ...(await prepareAnswer('14k')), requests: [page] }
}

function titleOf(size: string): string {
  return size === '450b' ? '450 B' : size === '1024k' ? '1 MB' : `${size.slice(0, -1)} KB`
}

async function prepareAnswer(
  size: string,
  request: Partial<WorkloadRequest> = {},
): Promise<PreparedWorkload> {
  const directory = await writeSizes()
  const file = pathOf(size)
  return {
    directory,
    requests: [{ target: `/${file}`, file, method: 'GET', accept: ['br', 'gzip'], ...request }],
    sequence: [0],
    newConnections: false,
  }
}

async function writeSizes(): Promise<string> {
  const files = Array.from(sizes, ([name, bytes]) => [pathOf(name), scriptOf(bytes)] as const)
  return writeFixtureSite('answers', new Map(files))
}

function pathOf(size: string): string {
  return `assets/answer-${size}.js`
}

/** Six bits of noise in each byte: brotli makes three quarters of it, whatever the size. */
function scriptOf(bytes: number): Buffer {
  return Buffer.from(noise(bytes, bytes).toString('base64'))
}
