import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { changeTimeOf, fingerprintOf } from '../files/open-regular-file.ts'

/**
 * What tells a folder's manifest from any other that stood or will stand there: where the folder really
 * is, and the file's identity, size and times. A build places a manifest by renaming, a copy may write into the one of
 * before.
 *
 * @returns `undefined` when there is none.
 */
export async function fingerprintManifest(directory: string): Promise<string | undefined> {
  try {
    const root = await realpath(directory)
    const stats = await stat(join(root, manifestPath), { bigint: true })
    return `${root}:${fingerprintOf(stats)}:${changeTimeOf(stats)}`
  } catch {
    // Missing or unreadable: loading the build reports which, and why.
    return undefined
  }
}

/** The same with {@link fingerprintEnvFile}. */
export async function fingerprintBuild(
  directory: string,
  envFile: string | undefined,
): Promise<string | undefined> {
  const manifest = await fingerprintManifest(directory)
  return manifest && `${manifest}${await fingerprintEnvFile(envFile)}`
}

/**
 * What tells a file of variables from what stood or will stand there: where it really is, for a ConfigMap moves a link, its
 * size and times; `''` where there is none to be looked at.
 */
export async function fingerprintEnvFile(envFile: string | undefined): Promise<string> {
  if (envFile === undefined) return ''
  try {
    const path = await realpath(resolve(envFile))
    const stats = await stat(path, { bigint: true })
    return `:${path}:${fingerprintOf(stats)}:${changeTimeOf(stats)}`
  } catch {
    // As above.
    return ':'
  }
}
