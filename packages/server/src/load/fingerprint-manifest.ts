import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { changeTimeOf, fingerprintOf } from '../files/open-regular-file.ts'

/**
 * Returns a text that identifies the manifest of a folder: the real path of the folder, and the identity, size and times of
 * the file. A build renames a new manifest into place, and a copy may overwrite the earlier one.
 *
 * @returns `undefined` if there is no manifest.
 */
export async function fingerprintManifest(directory: string): Promise<string | undefined> {
  try {
    const root = await realpath(directory)
    const stats = await stat(join(root, manifestPath), { bigint: true })
    return `${root}:${fingerprintOf(stats)}:${changeTimeOf(stats)}`
  } catch {
    // Loading the build reports the reason.
    return undefined
  }
}

/** Combines the fingerprints of the manifest and of the environment file. */
export async function fingerprintBuild(
  directory: string,
  envFile: string | undefined,
): Promise<string | undefined> {
  const manifest = await fingerprintManifest(directory)
  return manifest && `${manifest}${await fingerprintEnvFile(envFile)}`
}

/**
 * Returns a text that identifies an environment file: its real path, size and times. The path matters because a ConfigMap
 * replaces a symlink. Returns `''` without a file.
 */
export async function fingerprintEnvFile(envFile: string | undefined): Promise<string> {
  if (envFile === undefined) return ''
  try {
    const path = await realpath(resolve(envFile))
    const stats = await stat(path, { bigint: true })
    return `:${path}:${fingerprintOf(stats)}:${changeTimeOf(stats)}`
  } catch {
    // Loading the build reports the reason.
    return ':'
  }
}
