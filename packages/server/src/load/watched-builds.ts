import { dirname, join, resolve } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { fingerprintBuild } from './fingerprint-manifest.ts'

/** What is watched for another build. */
export interface WatchedBuilds {
  /** Tells the build that is there now from any other; `undefined` where there is none to be taken now. */
  mark(): Promise<string | undefined>
  /** What `mark` said of the build that is served, or before that was loaded. */
  readonly since: string | undefined
  /** In which the system tells of changes. */
  readonly folders: readonly string[]
  /** Milliseconds between looks where the system tells of no change. */
  readonly interval: number
  /** Milliseconds from the last change to the look at it. */
  readonly settling: number
  /** Looks at once, and settles when what it found is served; set by who follows the builds. */
  lookNow?: () => Promise<void>
}

/** How the build of a folder is watched. */
export interface WatchFolderOptions {
  /** A file of variables that is watched, too. */
  readonly envFile?: string | undefined
  /** What `fingerprintBuild` said before the build that is served was loaded. */
  readonly since: string | undefined
  /**
   * Milliseconds between looks. A look is a `realpath` and a `stat`.
   * @default 2000
   */
  readonly interval?: number
}

/**
 * A folder that gets another manifest, also by a link that leads elsewhere, or whose file of variables changes. A
 * manifest that was taken away is no change: a build is being written.
 */
export function watchedFolder(
  directory: string,
  { since, envFile, interval = 2000 }: WatchFolderOptions,
): WatchedBuilds {
  const path = resolve(directory)
  // Where the manifest is placed, where its folder is, and where the build's folder or a link of its name is.
  const folders = [join(path, stateDirectory), path, dirname(path)]
  const watched = { mark: () => fingerprintBuild(path, envFile), since, interval }
  const alone = { ...watched, folders, settling: 0 }
  return envFile === undefined ? alone : withEnvFile(alone, envFile)
}

/** Looks at the folder of a file of variables, too. */
export function withEnvFile(watched: WatchedBuilds, envFile: string): WatchedBuilds {
  // Unlike a manifest, that file is written in its place by many editors and scripts.
  return { ...watched, folders: [...watched.folders, dirname(resolve(envFile))], settling: 100 }
}
