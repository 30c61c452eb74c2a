import type { BuildComparison, FileComparison, FileState } from './compare-builds.ts'

/** What a reader should look at: files that are new, removed or changed, those first that change most of what is sent. */
export function changedFiles({ files }: BuildComparison): FileComparison[] {
  return files
    .filter(({ state }) => state === 'new' || state === 'removed' || state === 'changed')
    .toSorted((a, b) => weight(b) - weight(a))
}

function weight({ sizes }: FileComparison): number {
  return Math.abs(sizes.sent.bytes)
}

/** The number of files of a state. */
export function countState({ files }: Pick<BuildComparison, 'files'>, state: FileState): number {
  return files.filter((file) => file.state === state).length
}
