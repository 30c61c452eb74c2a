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

/** The `Available-Dictionary` of who has this file. */
export function offerOf(content: string | Uint8Array): string {
  return `:${createHash('sha256').update(content).digest('base64')}:`
}

/** Bytes that stand for a delta: with its header, of the right length; nothing decodes them. */
export function createFakeDelta(dictionary: string, coding: 'dcb' | 'dcz'): Buffer {
  const magic = coding === 'dcb' ? 'ff444342' : '5e2a4d1820000000'
  return Buffer.concat([
    Buffer.from(magic + sha256Of(dictionary), 'hex'),
    Buffer.from(`${coding} of ${dictionary.length}`),
  ])
}

/** What a build is published with: for each file that has deltas, the texts of its dictionaries. */
export type Dictionaries = Readonly<Record<string, readonly string[]>>

/** Makes a build the current one of a store, with deltas that are made up. */
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
  // Of a Node that can make deltas, there would be real ones, too.
  const { id } = await publish(directory, store, { makesDeltas: false })
  return await readGeneration(store, id)
}

/** A build whose files in `assets/` have stems: `assets/a-1.js` is one of `assets/a-[hash].js`. */
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
