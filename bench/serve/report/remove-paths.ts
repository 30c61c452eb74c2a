import { homedir, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'

/** Removes the folders of this machine from a text for a report. */
export function removePaths(text: string): string {
  const repository = resolve(benchDirectory, '..')
  return text
    .replaceAll('file://', '')
    .replaceAll(`${repository}/`, '')
    .replaceAll(repository, '.')
    .replaceAll(`${resolve(tmpdir())}/`, '')
    .replaceAll(homedir(), '~')
}
