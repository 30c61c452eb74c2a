import { homedir, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'

/** A text that goes into a report, without the folders of this machine: the repository's, scratch and home. */
export function withoutPaths(text: string): string {
  const repository = resolve(benchDirectory, '..')
  return text
    .replaceAll('file://', '')
    .replaceAll(`${repository}/`, '')
    .replaceAll(repository, '.')
    .replaceAll(`${resolve(tmpdir())}/`, '')
    .replaceAll(homedir(), '~')
}
