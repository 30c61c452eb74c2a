import { escapePattern } from '@serve-dist/foundation/text/escape-pattern'
import { createHash } from 'node:crypto'
import { posix } from 'node:path'

/** A file of a bundle, with the fields that Rollup and Rolldown share. */
export interface BundledFile {
  readonly type: 'chunk' | 'asset'
  readonly fileName: string
  /** Of chunks: the name with placeholders instead of hashes. */
  readonly preliminaryFileName?: string
  /** Of chunks: the id of the entry module. */
  readonly facadeModuleId?: string | null
  /** Of assets: the names from which the file name was made. Empty if a plugin chose the file name. */
  readonly names?: readonly string[]
}

/** Options of an output that decide how a pattern becomes a name. */
export interface NamingRules {
  readonly hashCharacters?: 'base64' | 'base36' | 'hex' | undefined
  readonly sanitizeFileName?: unknown
  readonly entryFileNames?: unknown
}

/** The argument of an `assetFileNames` function in both bundlers. */
export interface EmittedAsset {
  readonly names: readonly string[]
  readonly source: string | Uint8Array
}

/** The option `assetFileNames` of an output. */
type AssetFileNames<Asset extends EmittedAsset> = string | ((asset: Asset) => string)

/** Requests of a bundler to `assetFileNames`. It makes none for files whose name a plugin chose. */
export interface RequestedNames {
  /** Returns the patterns that led to a name, each with the digests of the contents for which it was requested. */
  patternsOf(name: string): ReadonlyMap<string, ReadonlySet<string>>
  /** Wraps `assetFileNames` to record each request. */
  record<Asset extends EmittedAsset>(
    assetFileNames: AssetFileNames<Asset> | undefined,
  ): (asset: Asset) => string
}

/** The default of Rollup and Rolldown. */
const defaultPattern = 'assets/[name]-[hash][extname]'
const noPatterns: ReadonlyMap<string, ReadonlySet<string>> = new Map()
const defaultHashLength = 8
const hashAlphabets = { base64: '[\\w-]', base36: '[0-9a-z]', hex: '[0-9a-f]' }
const chunkPlaceholder = /!~\{[\w$]+\}~/
const patternPlaceholder = /\[(name|extname|ext|hash)(?::(\d+))?\]/

/**
 * Returns the file names into which the bundler put a content hash, each with its stem: the name with `[hash]` instead
 * of the hash.
 *
 * A name alone is not enough. A chunk must have a preliminary name with a placeholder, an asset a request with a
 * `[hash]` pattern.
 */
export function findHashedNames(
  files: readonly BundledFile[],
  rules: NamingRules,
  asked: RequestedNames,
): Map<string, string> {
  const chunks = files.filter(({ type }) => type === 'chunk').flatMap((chunk) => hashedChunk(chunk, rules))
  const assets = files.filter(({ type }) => type === 'asset')
  return new Map([...chunks, ...hashedAssets(assets, rules, asked)])
}

/** Creates an empty record of requests. */
export function createRequestedNames(): RequestedNames {
  const patterns = new Map<string, Map<string, Set<string>>>()

  const note = ({ names, source }: EmittedAsset, pattern: string): void => {
    const digest = createHash('sha256').update(source).digest('base64')
    for (const name of names) {
      const answers = patterns.get(name) ?? new Map<string, Set<string>>()
      patterns.set(name, answers)
      answers.set(pattern, (answers.get(pattern) ?? new Set()).add(digest))
    }
  }

  return {
    patternsOf: (name) => patterns.get(name) ?? noPatterns,
    record<Asset extends EmittedAsset>(assetFileNames: AssetFileNames<Asset> = defaultPattern) {
      return function (this: unknown, ...parameters: [Asset]) {
        const pattern =
          typeof assetFileNames === 'string' ? assetFileNames : assetFileNames.apply(this, parameters)
        note(parameters[0], pattern)
        return pattern
      }
    },
  }
}

/**
 * The module from which `@vitejs/plugin-legacy` builds its polyfills with this output's `entryFileNames`. On Vite 8,
 * the resulting chunk already has a name, without a placeholder.
 */
const legacyPolyfills = '\0vite/legacy-polyfills'

function prebuiltChunk(chunk: BundledFile, rules: NamingRules): NameAndStem[] {
  const { entryFileNames } = rules
  const pattern: unknown =
    typeof entryFileNames === 'function' ? Reflect.apply(entryFileNames, undefined, [chunk]) : entryFileNames
  // plugin-legacy names its chunk `polyfills`.
  const match = typeof pattern === 'string' ? formOf(pattern, 'polyfills', rules)?.exec(chunk.fileName) : null
  return match ? [[chunk.fileName, match.slice(1).join('[hash]')]] : []
}

type NameAndStem = readonly [name: string, stem: string]

function hashedChunk(chunk: BundledFile, rules: NamingRules): NameAndStem[] {
  if (chunk.facadeModuleId === legacyPolyfills) return prebuiltChunk(chunk, rules)
  const { fileName, preliminaryFileName = '' } = chunk
  if (!chunkPlaceholder.test(preliminaryFileName)) return []
  const parts = preliminaryFileName.split(new RegExp(`(${chunkPlaceholder.source})`))
  // The placeholder is as long as the hash. If a plugin renamed the chunk, the name does not match.
  const form = parts.map((part) =>
    chunkPlaceholder.test(part) ? `[\\w-]{${part.length}}` : escapePattern(part),
  )
  const stem = parts.map((part) => (chunkPlaceholder.test(part) ? '[hash]' : part)).join('')
  return new RegExp(`^${form.join('')}$`, 'u').test(fileName) ? [[fileName, stem]] : []
}

function hashedAssets(
  assets: readonly BundledFile[],
  rules: NamingRules,
  asked: RequestedNames,
): NameAndStem[] {
  const fileNames = new Map<string, string[]>()
  for (const { names = [], fileName } of assets) {
    for (const name of new Set(names)) fileNames.set(name, [...(fileNames.get(name) ?? []), fileName])
  }
  return [...fileNames].flatMap(([name, ofName]) =>
    [...asked.patternsOf(name)].flatMap(([pattern, contents]) => {
      const form = formOf(pattern, name, rules)
      const candidates = ofName.flatMap((fileName): NameAndStem[] => {
        const match = form?.exec(fileName)
        return match ? [[fileName, match.slice(1).join('[hash]')]] : []
      })
      // If there are more files than names that the bundler asked for, a plugin chose one of them, and it is unknown which.
      return candidates.length > contents.size ? [] : candidates
    }),
  )
}

/**
 * Returns the pattern for file names of an asset, with groups around hashes. `undefined` if the pattern has no hash.
 */
function formOf(pattern: string, name: string, rules: NamingRules): RegExp | undefined {
  const sanitized = sanitize(name, rules)
  const extension = posix.extname(sanitized)
  const stem = sanitized.slice(0, sanitized.length - extension.length)
  const alphabet = hashAlphabets[rules.hashCharacters ?? 'base64']
  // With two groups in the separator, `split` returns: text, key, length, text, key, length, text …
  const parts = pattern.split(patternPlaceholder)
  let form = ''
  let isHashed = false
  for (let index = 0; index < parts.length; index += 3) {
    form += escapePattern(parts[index] ?? '')
    const key = parts[index + 1]
    if (key === 'hash') {
      isHashed = true
      form += `)${alphabet}{${parts[index + 2] ?? defaultHashLength}}(`
    } else if (key === 'name') form += anyUnsafe(stem)
    else if (key === 'ext') form += anyUnsafe(extension.slice(1))
    else if (key === 'extname') form += anyUnsafe(extension)
  }
  return isHashed ? new RegExp(`^(${form})$`, 'u') : undefined
}

function sanitize(name: string, { sanitizeFileName }: NamingRules): string {
  return typeof sanitizeFileName === 'function' ? String(sanitizeFileName(name)) : name
}

/** Matches any character for characters that a bundler may replace in file names. */
function anyUnsafe(text: string): string {
  return escapePattern(text.replaceAll(/[^\w./-]/gu, '\0')).replaceAll('\0', '.')
}
