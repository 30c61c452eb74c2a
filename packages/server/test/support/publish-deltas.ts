import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, manifestPath, parseManifest, stringifyManifest } from '@serve-dist/manifest'
import {
  blobKey,
  type DeltasDocument,
  deltasKey,
  type NamedBlob,
  openStore,
  publish,
  readGeneration,
  stringifyDeltas,
} from '@serve-dist/store'
import { buildFixture, type FixtureFiles } from './build-fixture.ts'

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Returns the `Available-Dictionary` value of a client with this file. */
export function offerOf(content: string | Uint8Array): string {
  return `:${createHash('sha256').update(content).digest('base64')}:`
}

/** Creates a fake delta with a valid header and the right length. Nothing decodes it. */
export function createFakeDelta(dictionary: string, coding: 'dcb' | 'dcz'): Buffer {
  const magic = coding === 'dcb' ? 'ff444342' : '5e2a4d1820000000'
  return Buffer.concat([
    Buffer.from(magic + sha256Of(dictionary), 'hex'),
    Buffer.from(`${coding} of ${dictionary.length}`),
  ])
}

/** The dictionary contents for each file that has deltas. */
export type Dictionaries = Readonly<Record<string, readonly string[]>>

/** Publishes a build with fake deltas, and makes it current. */
export async function publishDeltas(
  where: string,
  files: FixtureFiles,
  dictionaries: Dictionaries = {},
): Promise<Manifest> {
  const store = await openStore(where)
  const directory = await buildWithStems(files)
  const blobs: Buffer[] = []
  const name = (bytes: Buffer): NamedBlob => {
    blobs.push(bytes)
    return { sha256: sha256Of(bytes), size: bytes.length }
  }
  const document: DeltasDocument = {
    version: 1,
    files: new Map(
      Object.entries(dictionaries).map(([path, texts]) => [
        sha256Of(files[path] ?? ''),
        new Map(
          texts.map((text) => [
            sha256Of(text),
            { dcb: name(createFakeDelta(text, 'dcb')), dcz: name(createFakeDelta(text, 'dcz')) },
          ]),
        ),
      ]),
    ),
  }
  for (const bytes of blobs) await store.put(blobKey(sha256Of(bytes)), bytes)
  const manifest = parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
  await store.put(deltasKey(manifest.buildId), Buffer.from(stringifyDeltas(document)))
  // Disable real deltas, which some Node versions can make.
  const { id } = await publish(directory, store, { makesDeltas: false })
  return await readGeneration(store, id)
}

/** Builds files in `assets/` with stems: `assets/a-1.js` belongs to `assets/a-[hash].js`. */
async function buildWithStems(files: FixtureFiles): Promise<string> {
  const directory = await buildFixture(files, {
    isHashed: (path) => path.startsWith('assets/'),
    assetsDirectory: 'assets',
  })
  const file = join(directory, manifestPath)
  const manifest = parseManifest(await readFile(file, 'utf8'))
  const described = manifest.files.map((each) =>
    each.cache === 'immutable' ? { ...each, stem: each.path.replace(/-[^-.]*\./, '-[hash].') } : each,
  )
  await writeFile(file, stringifyManifest({ ...manifest, files: described }))
  return directory
}
