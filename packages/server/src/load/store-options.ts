import { byteSizeForm, byteSizeOf } from '@serve-dist/foundation/text/byte-size'
import { type ByteSize } from '@serve-dist/manifest'
import { loadDefaults, type ResolvedLoadSiteOptions } from './load-options.ts'
import { expecting, numberOf, type OptionChecks, readOptions } from '../read-options.ts'

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

/** The defaults. */
const storeDefaults: Pick<ResolvedStoreOptions, 'storeCacheSize' | 'storeInterval' | 'deltas'> = {
  storeCacheSize: 2 * 1024 ** 3,
  storeInterval: 5000,
  deltas: true,
}

const aPath = (what: string): ReturnType<typeof expecting> =>
  expecting(what, (value) => typeof value === 'string' && value !== '')

/** The checks of what every way of serving from a store takes. */
export const storeChecks: OptionChecks<StoreOptions> = {
  store: aPath('a folder, or s3://bucket/prefix'),
  storeCache: aPath('the path of a folder'),
  storeCacheSize: expecting(byteSizeForm, (value) => byteSizeOf(value) !== undefined),
  storeInterval: numberOf('milliseconds'),
  deltas: expecting('true or false', (value) => typeof value === 'boolean'),
}

/**
 * Fills in the defaults and checks what is given.
 *
 * @throws OperatorError that lists every wrong option, with what was found and what is expected.
 */
export function resolveStoreOptions({
  store,
  storeCache,
  storeCacheSize,
  storeInterval,
  deltas,
}: StoreOptions): ResolvedStoreOptions {
  const given = { store, storeCache, storeCacheSize, storeInterval, deltas }
  const resolved = readOptions<ResolvedStoreOptions>(
    given,
    { store, storeCache: undefined, ...storeDefaults },
    storeChecks,
  )
  return { ...resolved, storeCacheSize: byteSizeOf(resolved.storeCacheSize) ?? storeDefaults.storeCacheSize }
}

/** Why options that are about a folder have no effect with a store. */
export const needlessWithStore = {
  verify: 'every byte is compared with its digest anyway',
  unlisted: 'a store has no files but those of its manifests',
  noManifest: 'each build of a store has a manifest',
} as const

/** One line for each of them that is given; a default is nobody's mistake. */
export function needlessOptions(
  given: Pick<ResolvedLoadSiteOptions, keyof typeof needlessWithStore>,
): readonly string[] {
  const names = ['verify', 'unlisted', 'noManifest'] as const
  return names
    .filter((name) => given[name] !== loadDefaults[name])
    .map((name) => `${name} has no effect with a store: ${needlessWithStore[name]}`)
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
