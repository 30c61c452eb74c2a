import {
  type ChangedFile,
  dictionariesOf,
  type Download,
  isSourceMap,
  type Manifest,
  type ManifestFile,
} from '@serve-dist/manifest'
import type { DeltasDocument, DeltaVariants } from '../deltas/deltas-document.ts'
import { smallestSentSize } from '../deltas/worthwhile-deltas.ts'

/** The files that a browser may have cached. */
export interface Earlier {
  /** The digests of the files of the replaced build. */
  readonly had: ReadonlySet<string>
  /** The replaced build, if its files can be dictionaries. */
  readonly replaced: Manifest | undefined
  readonly deltas: DeltasDocument['files'] | undefined
}

/** Returns the files of a build that a browser must load after an update, without source maps. */
export function computeDownload({ files }: Manifest, { had, replaced, deltas }: Earlier): Download {
  const dictionaries = dictionariesOf(replaced ?? { base: '/', files: [] })
  const changes = files
    .filter(({ path, sha256, runtime }) => runtime !== true && !isSourceMap(path) && !had.has(sha256))
    .map((file) => {
      const dictionary = dictionaries.get(file.stem ?? '')?.file.sha256
      return describe(file, deltas?.get(file.sha256)?.get(dictionary ?? ''))
    })
    .toSorted((one, other) => savedOf(other) - savedOf(one) || other.bytes - one.bytes)
  const bytes = changes.reduce((sum, change) => sum + change.bytes, 0)
  const saved = changes.reduce((sum, change) => sum + savedOf(change), 0)
  return { files: changes.length, bytes, ...(saved > 0 && { bytesWithDeltas: bytes - saved }), changes }
}

function describe(file: ManifestFile, { dcz, dcb }: DeltaVariants = {}): ChangedFile {
  const sizeIn = (coding: string): number | undefined =>
    file.variants.find((variant) => variant.coding === coding)?.size
  const [zstd, br] = [sizeIn('zstd'), sizeIn('br')]
  const isBrotli = dcb !== undefined && (dcz === undefined || dcb.size < dcz.size)
  const delta = isBrotli ? dcb : dcz
  return {
    path: file.path,
    bytes: smallestSentSize(file),
    ...(zstd !== undefined && { zstd }),
    ...(br !== undefined && { br }),
    ...(delta !== undefined && { delta: delta.size, coding: isBrotli ? 'dcb' : 'dcz' }),
  }
}

function savedOf({ bytes, delta = bytes }: ChangedFile): number {
  return bytes - delta
}
