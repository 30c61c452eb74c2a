/** A plugin with settings and a cache that is empty or full. */
export interface Contender {
  readonly name: string
  /** The package of the plugin, whose version is shown; none for Vite alone. */
  readonly package?: string
  /** The extensions of the variants that must be there afterwards. */
  readonly extensions: readonly string[]
  /** Options of `serveDist`. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Whether its cache is kept for contenders that begin with a full one. */
  readonly fillsCache?: boolean
  /** Whether it begins with a full cache: the one that was kept, else that of a build which is not measured. */
  readonly isWarm?: boolean
  /** Whether one chunk differs from the build before. */
  readonly isChanged?: boolean
}

const codings = ['br', 'gzip']
const extensions = ['.br', '.gz']

/** In bytes: smaller files are left alone. */
export const smallestFile = 1024

/** Settings that the others have too. */
const alike = { codings, minimumSize: smallestFile }
const ours = { package: '@serve-dist/vite', extensions, options: alike }

/** All with gzip 9 and brotli 11, for the same files. */
export const contenders: readonly Contender[] = [
  { name: 'vite', extensions: [] },
  { name: 'serve-dist', ...ours, fillsCache: true },
  { name: 'serve-dist-warm', ...ours, isWarm: true },
  { name: 'serve-dist-changed', ...ours, isWarm: true, isChanged: true },
  { name: 'serve-dist-hasty', ...ours, options: { ...alike, durable: false } },
  {
    name: 'serve-dist-zstd',
    package: '@serve-dist/vite',
    extensions: ['.br', '.gz', '.zst'],
    options: { minimumSize: smallestFile },
  },
  { name: 'compression2', package: 'vite-plugin-compression2', extensions },
  { name: 'rollup-gzip', package: 'rollup-plugin-gzip', extensions },
  // Brotli alone: of two instances in one build, the second takes the files for done and writes nothing.
  { name: 'compression-br', package: 'vite-plugin-compression', extensions: ['.br'] },
  { name: 'astro', package: 'astro-compressor', extensions },
]

/** The files that every contender compresses. */
export const compressible: RegExp = /\.(?:js|css|html|ttf)$/
