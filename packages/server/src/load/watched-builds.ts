import { dirname, join, resolve } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { fingerprintBuild } from './fingerprint-manifest.ts'

/** How to watch for another build. */
export interface WatchedBuilds {
  /** Returns a text that identifies the latest build, or `undefined` if no build is ready. */
  mark(): Promise<string | undefined>
  /** The result of `mark` for the served build, from before it was loaded. */
  readonly since: string | undefined
  /** The folders whose changes the system reports. */
  readonly folders: readonly string[]
  /** Milliseconds between checks if the system reports no change. */
  readonly interval: number
  /** Milliseconds between the last change and the check. */
  readonly settling: number
  /** Checks immediately, and resolves when the found build is served. The follower of the builds sets it. */
  lookNow?: () => Promise<void>
}

export interface WatchFolderOptions {
  /** A file with environment variables to watch as well. */
  readonly envFile?: string | undefined
  /** The result of `fingerprintBuild` from before the served build was loaded. */
  readonly since: string | undefined
  /**
   * Milliseconds between checks, each of which is a `realpath` and a `stat`.
   * @default 2000
   */
  readonly interval?: number
}

/**
 * Watches a folder for another manifest, a changed symlink, and a changed environment file. A removed manifest is not a
 * change, because a new build removes it first.
 */
export function watchedFolder(
  directory: string,
  { since, envFile, interval = 2000 }: WatchFolderOptions,
): WatchedBuilds {
  const path = resolve(directory)
  // The folders of the manifest, of the build, and of a symlink to the build.
  const folders = [join(path, stateDirectory), path, dirname(path)]
  const watched = { mark: () => fingerprintBuild(path, envFile), since, interval }
  const alone = { ...watched, folders, settling: 0 }
  return envFile === undefined ? alone : withEnvFile(alone, envFile)
}

/** Watches several folders. While a build runs in one of them, there is no new build. */
export function watchedFolders(all: readonly WatchedBuilds[]): WatchedBuilds | undefined {
  const [first] = all
  if (first === undefined || all.length === 1) return first
  return {
    ...first,
    mark: async () => joinMarks(await Promise.all(all.map((each) => each.mark()))),
    since: joinMarks(all.map(({ since }) => since)),
    folders: all.flatMap(({ folders }) => folders),
  }
}

function joinMarks(marks: readonly (string | undefined)[]): string | undefined {
  return marks.includes(undefined) ? undefined : marks.join('\n')
}

/** Also watches the folder of an environment file. */
export function withEnvFile(watched: WatchedBuilds, envFile: string): WatchedBuilds {
  // Editors and scripts often overwrite such a file instead of replacing it.
  return { ...watched, folders: [...watched.folders, dirname(resolve(envFile))], settling: 100 }
}
