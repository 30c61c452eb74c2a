import { type ByteSize, type Fields, s } from '@serve-dist/manifest'
import { loadFields, type ResolvedLoadSiteOptions } from './load-options.ts'

/** The options of a store of builds. */
export interface StoreOptions {
  /** The folder or `s3://bucket/prefix` to which builds are published. */
  readonly store: string
  /**
   * The folder for the local cache. Each store has its own subfolder, which only this user can read. Processes can share it.
   * @default `serve-dist` in the user's cache (`$XDG_CACHE_HOME`, or `~/.cache`)
   */
  readonly storeCache?: string
  /**
   * The size limit of the cache in bytes, or a text such as `'512m'`. Files of the current build always stay.
   * @default 2_147_483_648 (2 GiB)
   */
  readonly storeCacheSize?: ByteSize
  /**
   * Milliseconds between checks for a new build, varied by a tenth. In a local folder, changes are noticed immediately.
   * @default 5000
   */
  readonly storeInterval?: number
  /**
   * Whether to send deltas (RFC 9842) to browsers that have an earlier build.
   * @default true
   */
  readonly deltas?: boolean
}

/** `StoreOptions` with defaults, except the folder of the cache. */
export interface ResolvedStoreOptions extends Required<Omit<StoreOptions, 'storeCache'>> {
  readonly storeCache: string | undefined
  readonly storeCacheSize: number
}

export const storeFields: Fields<ResolvedStoreOptions> = {
  store: s.filledText('a folder, or s3://bucket/prefix'),
  storeCache: s.optional(s.filledText('the path of a folder')),
  storeCacheSize: s.withDefault(s.byteSize(), () => 2 * 1024 ** 3),
  storeInterval: s.withDefault(s.numberOf('milliseconds'), () => 5000),
  deltas: s.withDefault(s.trueOrFalse, () => true),
}

// The same object may contain options of the site.
const storeSchema = s.objectOf<ResolvedStoreOptions>(storeFields)

/**
 * Validates options and adds the defaults.
 *
 * @throws OperatorError that lists all invalid options with their expected values.
 */
export function resolveStoreOptions(options: StoreOptions): ResolvedStoreOptions {
  return s.readOptions(storeSchema, options)
}

/** The reasons why options for a folder have no effect with a store. */
export const ignoredWithStore = {
  verify: 'the server always verifies every byte',
  unlisted: 'a store contains only the files of its manifests',
  noManifest: 'each build of a store has a manifest',
} as const

/** Returns a warning for each such option without its default value. */
export function describeIgnoredOptions(
  given: Pick<ResolvedLoadSiteOptions, keyof typeof ignoredWithStore>,
): readonly string[] {
  const names = ['verify', 'unlisted', 'noManifest'] as const
  return names
    .filter((name) => given[name] !== s.defaultOf<unknown>(loadFields[name]))
    .map((name) => `${name} has no effect with a store: ${ignoredWithStore[name]}`)
}

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
