import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ensureVersitygw } from '../../../../scripts/ensure-versitygw.mjs'
import { temporaryDirectory } from '../../../server/test/support/temporary-directory.ts'
import type { StoreBackend } from '../../src/backend.ts'
import { openStore, publish } from '../../src/index.ts'
import { openS3Store } from '../../src/s3/open-s3-store.ts'
import type { MadeBuild } from './make-builds.ts'
import { s3Environment, s3Settings, startS3 } from './start-s3.ts'

/** A store that another process can open. */
export interface SharedStore {
  readonly store: StoreBackend
  readonly where: string
  /** The folder of the objects as files. The S3 server also uses the times of these files. */
  readonly folder: string
}

/** A backend for tests. */
export interface TestedBackend {
  readonly name: string
  /** The environment for processes that open its stores. */
  readonly environment: Readonly<Record<string, string>>
  /** Opens an empty store. */
  open(): Promise<SharedStore>
}

/** Starts both backends. S3 is left out if its server is not available. */
export async function startBackends(): Promise<{
  readonly backends: readonly TestedBackend[]
  readonly stop: () => Promise<void>
}> {
  const folder: TestedBackend = {
    name: 'a folder',
    environment: {},
    open: async () => {
      const where = await temporaryDirectory()
      return { store: await openStore(where), where, folder: where }
    },
  }
  const program = await ensureVersitygw()
  if (program === undefined) return { backends: [folder], stop: async () => {} }
  const server = await startS3(program)
  const bucket: TestedBackend = {
    name: 'S3',
    environment: s3Environment(server.endpoint, server.root),
    open: async () => {
      const bucketName = await server.bucket()
      const where = `s3://${bucketName}/some/prefix`
      const store = await openS3Store(where, s3Settings(server.endpoint, server.root))
      return { store, where, folder: join(server.folderOf(bucketName), 'some/prefix') }
    },
  }
  return { backends: [folder, bucket], stop: async () => await server.stop() }
}

/** Publishes builds to a store in a folder. */
export async function storeOf(...builds: readonly MadeBuild[]): Promise<StoreBackend> {
  const store = await openStore(await temporaryDirectory())
  for (const { directory } of builds) await publish(directory, store)
  return store
}

/** Wraps a store and runs `work` before the first write of an object with this prefix. */
export function beforePut(store: StoreBackend, prefix: string, work: () => Promise<unknown>): StoreBackend {
  let isDone = false
  return {
    ...store,
    async put(key, content, options) {
      if (key.startsWith(prefix) && !isDone) {
        isDone = true
        await work()
      }
      return await store.put(key, content, options)
    },
  }
}

/** Sets the time of all blobs to 1970. */
export async function makeBlobsOld({ folder }: SharedStore): Promise<void> {
  const blobs = join(folder, 'blobs')
  await Promise.all((await readdir(blobs)).map(async (name) => await utimes(join(blobs, name), 0, 0)))
}

/** Copies all objects to other stores, which is faster than repeating the commands that wrote them. */
export async function copierOf(store: StoreBackend): Promise<(to: StoreBackend) => Promise<void>> {
  const objects: (readonly [string, Uint8Array])[] = []
  for await (const { key } of store.list('')) {
    const object = await store.read(key)
    if (typeof object === 'object') objects.push([key, await buffer(object.body)])
  }
  return async (to) => {
    await Promise.all(objects.map(async ([key, bytes]) => await to.put(key, bytes)))
  }
}
