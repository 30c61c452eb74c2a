import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { serve, type RunningServer } from '../../src/serve/serve.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import type { FixtureFiles } from './build-fixture.ts'
import { publishFiles } from './publish-files.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { testedEngine } from './tested-engine.ts'

/** A store, and its local cache. */
export interface StoreFixture {
  readonly store: string
  readonly storeCache: string
}

/** Publishes builds in order to a new store. */
export async function makeStore(...builds: readonly FixtureFiles[]): Promise<StoreFixture> {
  const folder = await temporaryDirectory()
  const place = { store: join(folder, 'store'), storeCache: join(folder, 'cache') }
  await mkdir(place.store)
  for (const files of builds) await publishFiles(place.store, files)
  return place
}

/** A server and its messages. */
export interface StoreServer {
  readonly server: RunningServer
  readonly warnings: string[]
  readonly problems: string[]
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>
}

/** Starts a server of a store for a test. It streams all but the smallest files. */
export async function start(place: StoreFixture, options: ServeOptions = {}): Promise<StoreServer> {
  const [warnings, problems]: [string[], string[]] = [[], []]
  const server = await serve({
    ...place,
    port: 0,
    gracePeriod: 100,
    engine: testedEngine,
    ...options,
    site: { largestBody: 1024, openFiles: 0, onWarning: (text) => warnings.push(text), ...options.site },
    handler: { onProblem: ({ message }) => problems.push(message) },
  })
  onTestFinished(() => server.close())
  const get: StoreServer['get'] = (path, headers = {}) => fetch(new URL(path, server.url), { headers })
  // The native engine answers only fields that Node has seen.
  await get('/').then((response) => response.arrayBuffer())
  return { server, warnings, problems, get }
}

/** Returns the path of the cached file with this size. */
export async function cachedFile({ storeCache }: StoreFixture, size: number): Promise<string> {
  const [own = ''] = await readdir(storeCache)
  const blobs = join(storeCache, own, 'blobs')
  for (const name of await readdir(blobs)) {
    if ((await stat(join(blobs, name))).size === size) return join(blobs, name)
  }
  throw new Error('the file is not cached')
}
