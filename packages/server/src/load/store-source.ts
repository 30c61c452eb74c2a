import { join } from 'node:path'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { OperatorError, shellWord } from '@serve-dist/manifest'
import { currentKey, openStore, parseHistory } from '@serve-dist/store'
import { readOptional } from '../files/read-optional.ts'
import { openCacheFolder } from '../mirror/cache-folder.ts'
import { readDeltasIntoMemory } from '../mirror/read-deltas-into-memory.ts'
import { streamedFromCache, inspectBlobs } from '../mirror/inspect-blobs.ts'
import type { Generation } from '../mirror/cached-generation.ts'
import { type CachedBuilds, type Mirror, openMirror } from '../mirror/open-mirror.ts'
import { openSharedMirror } from '../mirror/open-shared-mirror.ts'
import { type SendStoreRequest, type SharedMirror, shareMirror } from '../mirror/share-mirror.ts'
import { upstreamOf } from '../mirror/upstream.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import type { StoreView } from '../site/store-view.ts'
import type { BuildSource, KeptBySource, SourceBuild } from './build-source.ts'
import type { ResolvedLoadSiteOptions } from './load-options.ts'
import { fingerprintEnvFile } from './fingerprint-manifest.ts'
import type { ResolvedStoreOptions } from './store-options.ts'
import { type WatchedBuilds, withEnvFile } from './watched-builds.ts'

/**
 * Opens the builds of a store. If the store is unreachable or its current build is unusable, the server uses the build in
 * its cache for the time being.
 *
 * @throws OperatorError if neither has a build.
 */
export async function openStoreSource(
  options: ResolvedStoreOptions,
  following: StoreSourceContext,
): Promise<BuildSource> {
  const end = new AbortController()
  const close = (): void => end.abort(new Error('the site was closed'))
  const opened = openWatchedStore(options, following, end.signal)
  const { mirror, watched } = await opened.catch((error: unknown) => {
    close()
    throw error
  })
  return {
    ...sourceOf(mirror),
    close,
    store: mirror,
    watched,
    noteServed: (id) => mirror.noteServed(id),
  }
}

export type StoreSourceContext = Pick<ResolvedLoadSiteOptions, 'onWarning' | 'envFile'>

/** A store that the primary process polls for its workers. */
export interface StoreForWorkers {
  readonly shared: SharedMirror
  readonly view: StoreView
  readonly watched: WatchedBuilds
}

/** Opens a store for workers, which use {@link openSharedSource}. */
export async function openStoreForWorkers(
  options: ResolvedStoreOptions,
  following: StoreSourceContext,
): Promise<StoreForWorkers> {
  const { mirror, watched } = await openWatchedStore(options, following)
  const shared = shareMirror(mirror, async () => await watched.lookNow?.())
  return { shared, view: mirror, watched }
}

/** Opens the builds of a store that the primary process polls. */
export async function openSharedSource(ask: SendStoreRequest): Promise<BuildSource> {
  return { ...sourceOf(await openSharedMirror(ask)), lookNow: () => ask({ kind: 'load' }) }
}

async function openWatchedStore(
  options: ResolvedStoreOptions,
  { onWarning, envFile }: StoreSourceContext,
  signal?: AbortSignal,
): Promise<{ readonly mirror: Mirror; readonly watched: WatchedBuilds }> {
  // Before the builds are read, to notice later changes.
  const variables = await fingerprintEnvFile(envFile)
  const mirror = await openStoreMirror(options, onWarning, signal)
  const markOf = (ids: readonly string[], ofVariables: string): string =>
    `${ids.join()} ${mirror.missedDeltas}${ofVariables}`
  const watched: WatchedBuilds = {
    async mark() {
      const ids = await mirror.look()
      return ids && markOf(ids, await fingerprintEnvFile(envFile))
    },
    since: markOf(
      mirror.generations.map(({ id }) => id),
      variables,
    ),
    folders: mirror.place.startsWith('s3://') ? [] : [mirror.place],
    // Spreads the requests of replicas that started at the same time.
    interval: options.storeInterval * (0.9 + 0.2 * Math.random()),
    settling: 0,
  }
  return { mirror, watched: envFile === undefined ? watched : withEnvFile(watched, envFile) }
}

async function openStoreMirror(
  { store, storeCache, storeCacheSize, deltas }: ResolvedStoreOptions,
  onWarning: (message: string) => void,
  signal?: AbortSignal,
): Promise<Mirror> {
  const backend = await openStore(store)
  const endpoint = (await backend.endpoint?.()) ?? ''
  const cache = await openCacheFolder(storeCache, `${endpoint} ${backend.place}`)
  const upstream = upstreamOf(backend, signal)
  const mirror = openMirror({ upstream, cache, cacheSize: storeCacheSize, deltas, onNotice: onWarning })
  try {
    await mirror.refresh()
  } catch (error) {
    if (!(error instanceof OperatorError) || !(await mirror.refreshFromCache(error))) throw error
    onWarning(
      `${error.message.replace(/\.?$/, '.')} Serving build ${shortId(currentOf(mirror).id)} from ${cache}.`,
    )
  }
  return mirror
}

function sourceOf(builds: CachedBuilds): BuildSource {
  return {
    place: builds.place,
    refresh: () => builds.refresh(),
    listBuilds: async (buildId) => {
      const all = await builds.listBuilds()
      return await keptGenerations(
        builds,
        all.filter(({ id }) => id !== buildId),
      )
    },
    mark: async () => currentOf(builds).id,
    open: async () => openGeneration(builds, currentOf(builds)),
  }
}

function currentOf({ generations, place }: CachedBuilds): Generation {
  const [current] = generations
  if (current === undefined) throw new TypeError(`${place}: no build was read`)
  return current
}

/** Keeps bytes in memory and open files while there is room. The others are fetched on request. */
async function keptGenerations(mirror: CachedBuilds, kept: readonly Generation[]): Promise<KeptBySource> {
  const times = await readSupersededTimes(mirror)
  const coldBytesOf = (entry: ManifestEntry): StoredBytes => streamedFromCache(mirror, entry)
  return {
    identity: kept.map(({ id }) => id).join(),
    coldBytesOf,
    builds(before) {
      const known = new Map(
        before.flatMap(({ stored }) => [...stored].map(([{ sha256 }, bytes]) => [sha256, bytes] as const)),
      )
      return kept.map(({ id, manifest }) => {
        const entries = manifest.files.flatMap((file) => [file, ...file.variants])
        const stored = entries.map((entry) => [entry, known.get(entry.sha256) ?? coldBytesOf(entry)] as const)
        return { manifest, stored: new Map(stored), superseded: times.get(id) ?? Date.now() }
      })
    },
  }
}

/** Returns when each build was last replaced, from the history in the cache. */
async function readSupersededTimes({ cache, place }: CachedBuilds): Promise<ReadonlyMap<string, number>> {
  const text = await readOptional(join(cache, currentKey))
  const rows = text === undefined ? [] : parseHistory(text, place).history.toReversed()
  return new Map(
    rows.flatMap(({ id, superseded }) => (superseded === undefined ? [] : [[id, Date.parse(superseded)]])),
  )
}

function openGeneration(mirror: CachedBuilds, generation: Generation): SourceBuild {
  const { manifest, file } = generation
  return {
    directory: mirror.place,
    store: mirror.place,
    // A path below this file never exists.
    root: file,
    hasManifest: true,
    cure: `serve-dist publish <dir> --store ${shellWord(mirror.place)}`,
    readManifest: async () => manifest,
    findUnlisted: () => [],
    inspect: (files, inspection) => inspectBlobs(mirror, files, inspection),
    readDeltasIntoMemory: (_manifest, { room }) => readDeltasIntoMemory(mirror, generation, room),
    readKept: () => keptGenerations(mirror, mirror.generations.slice(1)),
    describeStart: async () => undefined,
  }
}
