/** What is measured: a plugin with settings, in a state of its cache. */
export interface Contender {
  readonly name: string
  /** Whose version is shown, and whose plugin is loaded; none for Vite alone. */
  readonly package?: string
  /** The extensions of the variants that must be there afterwards. */
  readonly extensions: readonly string[]
  /** Options of `serveDist`. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Whether its cache is kept for those that begin with a filled one. */
  readonly fillsCache?: boolean
  /** Whether it begins with the cache of a build before: the one that was kept, else of one that is not measured. */
  readonly isWarm?: boolean
  /** Whether one chunk differs from the build before. */
  readonly isChanged?: boolean
}

const codings = ['br', 'gzip']
const extensions = ['.br', '.gz']

/** In bytes: smaller files are left alone. */
export const smallestFile = 1024

/** What the others can be told too. */
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
  // Of two instances in one build the second finds what the first has noted as done, and writes nothing.
  { name: 'compression-br', package: 'vite-plugin-compression', extensions: ['.br'] },
  { name: 'astro', package: 'astro-compressor', extensions },
]

/** What is compressed: the formats of the trees that all of them are told to take. */
export const compressible: RegExp = /\.(?:js|css|html|ttf)$/
