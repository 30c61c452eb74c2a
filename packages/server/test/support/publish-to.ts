import { openStore, publish, readGeneration } from '@serve-dist/store'
import type { Manifest } from '@serve-dist/manifest'
import { buildFixture, type FixtureFiles } from './build-fixture.ts'

const isHashed = (path: string): boolean => path.startsWith('assets/')

/** Makes a build the current one of a store; names in `assets/` are immutable. */
export async function publishTo(where: string, files: FixtureFiles): Promise<Manifest> {
  const store = await openStore(where)
  const directory = await buildFixture(files, { isHashed, assetsDirectory: 'assets' })
  const { id } = await publish(directory, store)
  return await readGeneration(store, id)
}
