import { type ByteSize, type Fields, s } from '@serve-dist/manifest'
import { loadFields, type ResolvedLoadSiteOptions } from './load-options.ts'

/** A store of builds, which takes the place of a folder. */
export interface StoreOptions {
  /** A folder, or `s3://bucket/prefix`, that builds are published to. */
  readonly store: string
  /**
   * The folder on this machine in which a folder of its own is made for what is served of the store, for this user alone;
   * processes may share it.
   * @default `serve-dist` in the user's cache (`$XDG_CACHE_HOME`, or `~/.cache`)
   */
  readonly storeCache?: string
  /**
   * Bytes that the cache may take, or a text such as `'512m'`; the files of the current build stay, whatever they take.
   * @default 2_147_483_648 (2 GiB)
   */
  readonly storeCacheSize?: ByteSize
  /**
   * Milliseconds between looks at what is current, a tenth more or less; in a folder, a change shows at once.
   * @default 5000
   */
  readonly storeInterval?: number
  /**
   * Whether browsers that have an earlier build are sent what has changed, where the publisher makes deltas (RFC 9842).
   * @default true
   */
  readonly deltas?: boolean
}

/** `StoreOptions` with nothing left open but the place of the cache. */
export interface ResolvedStoreOptions extends Required<Omit<StoreOptions, 'storeCache'>> {
  readonly storeCache: string | undefined
  readonly storeCacheSize: number
}

/** What every way of serving from a store takes. */
export const storeFields: Fields<ResolvedStoreOptions> = {
  store: s.filledText('a folder, or s3://bucket/prefix'),
  storeCache: s.optional(s.filledText('the path of a folder')),
  storeCacheSize: s.withDefault(s.byteSize(), () => 2 * 1024 ** 3),
  storeInterval: s.withDefault(s.numberOf('milliseconds'), () => 5000),
  deltas: s.withDefault(s.trueOrFalse, () => true),
}

// Options of the site may stand next to them.
const storeSchema = s.objectOf<ResolvedStoreOptions>(storeFields)

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveStoreOptions(options: StoreOptions): ResolvedStoreOptions {
  return s.readOptions(storeSchema, options)
}

/** Why options that are about a folder have no effect with a store. */
export const ignoredWithStore = {
  verify: 'every byte is compared with its digest anyway',
  unlisted: 'a store has no files but those of its manifests',
  noManifest: 'each build of a store has a manifest',
} as const

/** One line for each of them that is given; a default is nobody's mistake. */
export function describeIgnoredOptions(
  given: Pick<ResolvedLoadSiteOptions, keyof typeof ignoredWithStore>,
): readonly string[] {
  const names = ['verify', 'unlisted', 'noManifest'] as const
  return names
    .filter((name) => given[name] !== s.defaultOf<unknown>(loadFields[name]))
    .map((name) => `${name} has no effect with a store: ${ignoredWithStore[name]}`)
}

/** Options without those of the store. */
export function withoutStore<Options extends Partial<StoreOptions>>(
  options: Options,
): Omit<Options, keyof StoreOptions> {
  const {
    store: _store,
    storeCache: _cache,
    storeCacheSize: _size,
    storeInterval: _interval,
    deltas: _deltas,
    ...others
  } = options
  return others
}
