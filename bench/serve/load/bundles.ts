import { cutScript, writeFixtureSite } from './fixtures.ts'
import type { Workload, WorkloadRequest } from './workload.ts'

const size = 50 * 1024
const names = [1, 2, 3, 4, 5].map((number) => `assets/bundle-${number}.js`)

/** Five bundles of 50 KB of JavaScript, as a browser that knows zstd asks for them. */
export const bundles: Workload = {
  name: 'bundles50k',
  title: 'Five 50 KB bundles, Accept-Encoding: zstd, br, gzip',
  prepare: () => prepareBundles({}),
}

/** The same over a connection for each request. */
export const newConnections: Workload = {
  name: 'new-connections',
  title: 'Five 50 KB bundles, a new connection for each request',
  prepare: async () => ({ ...(await prepareBundles({})), newConnections: true }),
}

/** The same, already known to the client by its entity tag. */
export const notModifiedByTag: Workload = {
  name: 'not-modified-tag',
  title: '304 by If-None-Match',
  prepare: () => prepareBundles({ condition: 'If-None-Match' }),
}

/** The same, already known to the client by its date. */
export const notModifiedByDate: Workload = {
  name: 'not-modified-date',
  title: '304 by If-Modified-Since',
  prepare: () => prepareBundles({ condition: 'If-Modified-Since' }),
}

/** The same, the head only. */
export const heads: Workload = {
  name: 'head',
  title: 'HEAD of five 50 KB bundles',
  prepare: () => prepareBundles({ method: 'HEAD' }),
}

async function prepareBundles(request: Partial<WorkloadRequest>): ReturnType<Workload['prepare']> {
  const parts = await Promise.all(names.map((_, index) => cutScript(index * 1_000_000, size)))
  const directory = await writeFixtureSite(
    'bundles',
    new Map(names.map((name, index) => [name, parts[index] ?? Buffer.alloc(0)])),
  )
  return {
    directory,
    requests: names.map((file) => ({
      target: `/${file}`,
      file,
      method: 'GET',
      accept: ['zstd', 'br', 'gzip'],
      ...request,
    })),
    sequence: names.map((_, index) => index),
    newConnections: false,
  }
}
