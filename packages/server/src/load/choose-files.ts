import { type Manifest, variantPath, servingFiles } from '@serve-dist/manifest'
import { chooseStreamedFiles, type MemoryLimits } from '../files/choose-streamed-files.ts'
import type { ExpectedFile } from '../files/inspect-file.ts'
import type { Inspection } from '../files/inspect-files.ts'

export interface HoldLimits extends MemoryLimits {
  readonly openFiles: number
}

/** The files of a build, and how each of them is stored. */
export interface ChosenFiles extends Pick<Inspection, 'streamed' | 'kept'> {
  readonly expected: readonly ExpectedFile[]
  readonly bytesToHold: number
}

/** Chooses the bodies to hold in memory and the files to keep open. */
export function chooseFiles(manifest: Manifest, { openFiles, ...limits }: HoldLimits): ChosenFiles {
  const expected = expectedFiles(manifest)
  const served = expected.filter(({ path }) => !servingFiles.has(path))
  const streamed = chooseStreamedFiles(served, limits)
  const bytesToHold = sizeOf(served) - sizeOf(streamed)
  // The smallest files, because opening takes a larger part of their time than sending.
  return { expected, bytesToHold, streamed: new Set(streamed), kept: new Set(streamed.slice(0, openFiles)) }
}

function sizeOf(files: readonly ExpectedFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}

function expectedFiles({ files }: Manifest): readonly ExpectedFile[] {
  const expected: ExpectedFile[] = []
  for (const file of files) {
    const { path, size, sha256 } = file
    expected.push({ path, size, sha256, entry: file })
    for (const variant of file.variants) {
      expected.push({
        path: variantPath(path, variant.coding),
        size: variant.size,
        sha256: variant.sha256,
        entry: variant,
      })
    }
  }
  return expected
}
