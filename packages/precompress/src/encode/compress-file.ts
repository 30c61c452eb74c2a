import type { ContentCoding } from '@serve-dist/manifest'
import type { CompressedFile } from '../commit/build-manifest.ts'
import type { SharedMemory } from './create-shared-memory.ts'
import { describeFile, loadFile, type LoadedFile } from '../folder/describe-file.ts'
import { encodingCost } from '../codecs/encoding-cost.ts'
import { findPlaces } from '../folder/find-places.ts'
import { stageVariants, type Staging } from './stage-variants.ts'

/** A file, and in which codings variants of it are wanted. */
export interface FileTask {
  /** Relative to the build's folder. */
  readonly path: string
  /** In bytes, when it was listed. */
  readonly size: number
  /** None: it is only described. */
  readonly codings: readonly ContentCoding[]
}

/** What came of it. */
export interface FileOutcome {
  readonly compressed: CompressedFile
  /** Places of variants that others hold. */
  readonly taken: readonly string[]
  /** Outcomes of encoding that the cache knew. */
  readonly cacheHits: number
}

/** Where files stand, and what becomes of their variants. */
export interface FileContext extends Staging {
  /** The build's, absolute. */
  readonly folder: string
  /** The variants of earlier passes, path to digest: only those may be replaced. */
  readonly ours: ReadonlyMap<string, string>
  /** Of the files that are read. */
  readonly memory: SharedMemory
  /** Called when the variant of a coding is staged or left out, with its share of the file's work. */
  readonly onShare: (file: FileTask, share: number) => void
}

/** Describes a file and stages the variants that pay. */
export async function compressFile(task: FileTask, context: FileContext): Promise<FileOutcome> {
  const { path, codings } = task
  const { folder, ours } = context
  if (codings.length === 0) {
    return { compressed: { file: await describeFile(folder, path), variants: [] }, taken: [], cacheHits: 0 }
  }
  const { free, taken } = findPlaces(folder, path, codings, ours)
  const held: Uint8Array[] = []
  const take = async (size: number): Promise<Uint8Array> => {
    const bytes = await context.memory.take(size)
    held.push(bytes)
    return bytes
  }
  try {
    const loaded = await loadFile(folder, path, take)
    const work = free.reduce((sum, coding) => sum + encodingCost(coding, 1), 0)
    const { variants, cacheHits } = await stageVariants({ ...loaded, codings: free }, context, (coding) =>
      context.onShare(task, encodingCost(coding, 1) / work),
    )
    return { compressed: { file: withoutBytes(loaded), variants }, taken, cacheHits }
  } finally {
    for (const bytes of held) context.memory.giveBack(bytes)
  }
}

/** Lets go of the bytes. */
function withoutBytes({ path, mediaType, size, sha256, stamp }: LoadedFile): CompressedFile['file'] {
  return { path, mediaType, size, sha256, stamp }
}
