import { cp, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { openStore, publish, readGeneration } from '@serve-dist/store'
import type { Manifest } from '@serve-dist/manifest'
import { buildFixture, type FixtureFiles } from './build-fixture.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const isHashed = (path: string): boolean => path.startsWith('assets/')

/** Publishes a build and makes it current. Names in `assets/` are immutable. */
export async function publishFiles(where: string, files: FixtureFiles): Promise<Manifest> {
  const store = await openStore(where)
  const directory = await buildFixture(files, { isHashed, assetsDirectory: 'assets' })
  const { id } = await publish(directory, store)
  return await readGeneration(store, id)
}

/** Publishes a build to a store in a folder, then deletes the blob of one file. */
export async function publishWithMissingFile(
  path: string,
  store: string,
  files: FixtureFiles,
): Promise<void> {
  const copy = join(await temporaryDirectory(), 'store')
  await cp(store, copy, { recursive: true })
  const { files: listed } = await publishFiles(copy, files)
  const sha256 = listed.find((file) => file.path === path)?.sha256 ?? ''
  await rm(join(copy, 'blobs', sha256))
  await cp(copy, store, { recursive: true, filter: (file) => basename(file) !== 'current.json' })
  await rename(join(copy, 'current.json'), join(store, 'current.json'))
}
