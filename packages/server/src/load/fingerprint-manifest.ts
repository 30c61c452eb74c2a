import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { manifestPath, pendingPath } from '@serve-dist/manifest'
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

/** Milliseconds until a commit of the compression step counts as interrupted. Its interim manifest is then the build. */
const longestCommit = 10_000

/**
 * Combines the fingerprints of the manifest and of the environment file.
 *
 * @returns `undefined` if there is no manifest, or if the compression step is committing a build.
 */
export async function fingerprintBuild(
  directory: string,
  envFile: string | undefined,
): Promise<string | undefined> {
  if (await isCommitting(directory)) return undefined
  const manifest = await fingerprintManifest(directory)
  return manifest && `${manifest}${await fingerprintEnvFile(envFile)}`
}

async function isCommitting(directory: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(join(directory, pendingPath))
    // Times of files have fractions of milliseconds, so a new file can be ahead of the clock.
    return Math.abs(Date.now() - mtimeMs) < longestCommit
  } catch {
    return false
  }
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
