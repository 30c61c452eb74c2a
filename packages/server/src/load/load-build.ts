import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { buildSite } from '../site/build-site.ts'
import { chooseStreamedFiles } from '../files/choose-streamed-files.ts'
import { unusedHeadersFileRules } from '../site/field-rules.ts'
import { expectedFiles } from './expected-files.ts'
import { inspectFiles, retireFiles } from '../files/inspect-files.ts'
import { namesOf } from '../site/names-of.ts'
import { markManifest } from './mark-manifest.ts'
import { readManifest } from './read-manifest.ts'
import { readServingFiles, servingFiles } from './read-serving-files.ts'
import { isSourceMap, resolveServing } from '../site/resolve-serving.ts'
import type { Site, StoredBytes } from '../site/site.ts'
import { SiteError } from '../site/site-error.ts'
import type { ResolvedSiteStoreOptions } from './site-store-options.ts'

/** A site, with what its maker must know of it. */
export interface LoadedBuild {
  readonly site: Site
  /** Whether the folder has a manifest; one without was described instead. */
  readonly hasManifest: boolean
  /** Equal for two loads that answer alike: the same folder, the same build, the same files on the disk. */
  readonly identity: string
  /** Closes what was kept open, as soon as nobody reads from it. */
  retire(): void
}

/** How a folder is read. */
export interface LoadBuildOptions extends ResolvedSiteStoreOptions {
  /** Whether a folder without a manifest is refused rather than described. */
  readonly needsManifest: boolean
}

/** A build that changes each time that it is read is being written by several. */
const mostAttempts = 3

/**
 * Reads a build and checks it. The folder is resolved once, and a manifest that is another one afterwards
 * voids what was read: whoever builds takes the manifest away before anything else, so that a site is never
 * made of two builds.
 *
 * @throws SiteError with all problems at once.
 */
export async function loadBuild(directory: string, options: LoadBuildOptions): Promise<LoadedBuild> {
  let { needsManifest } = options
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const mark = await markManifest(directory)
    if (mark === undefined && needsManifest) {
      throw new SiteError([
        `${resolve(directory)}: there is no manifest now, so a build is being written, or its plugin was left out; reload once it is done`,
      ])
    }
    needsManifest ||= mark !== undefined
    const root = await resolveRoot(directory)
    const loaded = await loadOnce(root, mark !== undefined, options).catch((error: unknown) => ({ error }))
    if ((await markManifest(directory)) === mark) {
      if ('error' in loaded) throw loaded.error
      return loaded
    }
    if (!('error' in loaded)) loaded.retire()
  }
  throw new SiteError([
    `${resolve(directory)}: the build changed ${mostAttempts} times while it was read; reload once it is done`,
  ])
}

/** Where a link leads may change at any time; a folder that is not there is told of under its own name. */
async function resolveRoot(directory: string): Promise<string> {
  return await realpath(directory).catch(() => resolve(directory))
}

async function loadOnce(
  root: string,
  hasManifest: boolean,
  { verify, memoryBudget, largestBody, rules, openFiles, onWarning }: LoadBuildOptions,
): Promise<LoadedBuild> {
  const whole = await readManifest(root, onWarning)
  const written = await readServingFiles(root, whole, onWarning)
  const serving = resolveServing({
    directory: root,
    ...written,
    rules: [whole.serving ?? {}, rules],
  })
  const wanted = serving.sourceMaps === 'deny' ? withoutSourceMaps(whole) : whole
  const expected = expectedFiles(wanted)
  const streamed = chooseStreamedFiles(expected, { memoryBudget, largestBody })
  const files = await inspectFiles(root, expected, {
    verify,
    streamed: new Set(streamed),
    // The smallest: opening a file costs most beside sending it when there is little to send.
    kept: new Set(streamed.slice(0, openFiles)),
  })
  const retire = (): void => retireFiles(files.values())
  try {
    const manifest = { ...wanted, files: wanted.files.filter(({ path }) => !servingFiles.has(path)) }
    const { site, problems } = buildSite(manifest, files, serving)
    const urlPaths = manifest.files.flatMap(({ path }) => namesOf(path).map((name) => manifest.base + name))
    for (const problem of [...unusedHeadersFileRules(written.headersFile, urlPaths), ...problems])
      onWarning(problem)
    return { site, hasManifest, identity: identify(site, files.values()), retire }
  } catch (error) {
    // `onWarning` is user code and may throw: close the open files first.
    retire()
    throw error
  }
}

/** What is denied is not even looked for: it may have been deleted after it was uploaded elsewhere. */
function withoutSourceMaps(manifest: Manifest): Manifest {
  return { ...manifest, files: manifest.files.filter(({ path }) => !isSourceMap(path)) }
}

/** Held bodies are what the build's id says; a streamed file may have been written anew. */
function identify({ directory, buildId }: Site, files: Iterable<StoredBytes>): string {
  const streamed: string[] = []
  for (const stored of files) {
    if (stored.body === undefined) {
      streamed.push(`${stored.file}:${stored.fingerprint}`)
    }
  }
  return [directory, buildId, ...streamed].join('\n')
}
