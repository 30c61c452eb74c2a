/** A plugin with its settings, and an empty or a full cache. */
export interface Contender {
  readonly name: string
  /** The package of the plugin, for its version; absent for Vite alone. */
  readonly package?: string
  /** The extensions of the variants that the build must write. */
  readonly extensions: readonly string[]
  /** Options of `serveDist`. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Whether its cache is kept for contenders that begin with a full one. */
  readonly fillsCache?: boolean
  /** Whether it begins with a full cache: the kept one, or else the cache of a build that is not measured. */
  readonly isWarm?: boolean
  /** Whether one chunk differs from the previous build. */
  readonly isChanged?: boolean
}

const codings = ['br', 'gzip']
const extensions = ['.br', '.gz']

/** In bytes: smaller files get no variants. */
export const minimumFileSize = 1024

/** The settings of the other plugins. */
const sharedOptions = { codings, minimumSize: minimumFileSize }
const ours = { package: '@serve-dist/vite', extensions, options: sharedOptions }

/** All plugins use gzip 9 and brotli 11, for the same files. */
export const contenders: readonly Contender[] = [
  { name: 'vite', extensions: [] },
  { name: 'serve-dist', ...ours, fillsCache: true },
  { name: 'serve-dist-warm', ...ours, isWarm: true },
  { name: 'serve-dist-changed', ...ours, isWarm: true, isChanged: true },
  { name: 'serve-dist-hasty', ...ours, options: { ...sharedOptions, durable: false } },
  {
    name: 'serve-dist-zstd',
    package: '@serve-dist/vite',
    extensions: ['.br', '.gz', '.zst'],
    options: { minimumSize: minimumFileSize },
  },
  { name: 'compression2', package: 'vite-plugin-compression2', extensions },
  { name: 'rollup-gzip', package: 'rollup-plugin-gzip', extensions },
  // Only brotli: a second instance in the same build writes nothing, because it considers the files done.
  { name: 'compression-br', package: 'vite-plugin-compression', extensions: ['.br'] },
  { name: 'astro', package: 'astro-compressor', extensions },
]

/** The files that every contender compresses. */
export const compressible: RegExp = /\.(?:js|css|html|ttf)$/
