import { createHash } from 'node:crypto'
import { posix } from 'node:path'

/** A file of a bundle, as far as Rollup and Rolldown agree on it. */
export interface BundledFile {
  readonly type: 'chunk' | 'asset'
  readonly fileName: string
  /** Of chunks: the name before the hashes were known, with a placeholder in the place of each. */
  readonly preliminaryFileName?: string
  /** Of chunks: the module that stands for them. */
  readonly facadeModuleId?: string | null
  /** Of assets: the names that they were emitted under; none when only a file name was given. */
  readonly names?: readonly string[]
}

/** The part of an output's options that decides what a name becomes within a pattern. */
export interface NamingRules {
  readonly hashCharacters?: 'base64' | 'base36' | 'hex' | undefined
  readonly sanitizeFileName?: unknown
  readonly entryFileNames?: unknown
}

/** What both bundlers hand to an `assetFileNames` function. */
export interface EmittedAsset {
  readonly names: readonly string[]
  readonly source: string | Uint8Array
}

/** `assetFileNames` of an output, with whatever else the bundler hands to the function. */
type AssetFileNames<Asset extends EmittedAsset> = string | ((asset: Asset) => string)

/** What a bundler asked of `assetFileNames`, which it does for no file whose name a plugin chose. */
export interface RequestedNames {
  /** The digests of the contents that were asked for under a name, by the pattern that was the answer. */
  patternsOf(name: string): ReadonlyMap<string, ReadonlySet<string>>
  /** The same names, with a record of what was asked. */
  record<Asset extends EmittedAsset>(
    assetFileNames: AssetFileNames<Asset> | undefined,
  ): (asset: Asset) => string
}

/** The default of Rollup and of Rolldown. */
const defaultPattern = 'assets/[name]-[hash][extname]'
const noPatterns: ReadonlyMap<string, ReadonlySet<string>> = new Map()
const defaultHashLength = 8
const hashAlphabets = { base64: '[\\w-]', base36: '[0-9a-z]', hex: '[0-9a-f]' }
const chunkPlaceholder = /!~\{[\w$]+\}~/
const patternPlaceholder = /\[(name|extname|ext|hash)(?::(\d+))?\]/

/**
 * The file names of a bundle that the bundler put a content hash into, each with its stem: the name with `[hash]` in
 * the place of the hash. The name alone proves nothing: a chunk must come from a preliminary name with a placeholder,
 * an asset from a pattern with `[hash]` that was asked for.
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

/** Starts a record of names that nobody has asked for yet. */
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
 * The module of which `@vitejs/plugin-legacy` makes its polyfills, in a build of its own with this output's
 * `entryFileNames`; on Vite 8 the result comes as a chunk that was named already, without a placeholder.
 */
const legacyPolyfills = '\0vite/legacy-polyfills'

function prebuiltChunk(chunk: BundledFile, rules: NamingRules): NameAndStem[] {
  const { entryFileNames } = rules
  const pattern: unknown =
    typeof entryFileNames === 'function' ? Reflect.apply(entryFileNames, undefined, [chunk]) : entryFileNames
  // The name that its own build gives it.
  const match = typeof pattern === 'string' ? formOf(pattern, 'polyfills', rules)?.exec(chunk.fileName) : null
  return match ? [[chunk.fileName, match.slice(1).join('[hash]')]] : []
}

type NameAndStem = readonly [name: string, stem: string]

function hashedChunk(chunk: BundledFile, rules: NamingRules): NameAndStem[] {
  if (chunk.facadeModuleId === legacyPolyfills) return prebuiltChunk(chunk, rules)
  const { fileName, preliminaryFileName = '' } = chunk
  if (!chunkPlaceholder.test(preliminaryFileName)) return []
  const parts = preliminaryFileName.split(new RegExp(`(${chunkPlaceholder.source})`))
  // The placeholder is as long as the hash; a plugin that renamed the chunk since took the hash away.
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
      // More files than were asked for: a plugin chose one of these names, and nothing tells which.
      return candidates.length > contents.size ? [] : candidates
    }),
  )
}

/** What an asset of this name is called by this pattern, hashes between groups; nothing when the pattern has no hash. */
function formOf(pattern: string, name: string, rules: NamingRules): RegExp | undefined {
  const sanitized = sanitize(name, rules)
  const extension = posix.extname(sanitized)
  const stem = sanitized.slice(0, sanitized.length - extension.length)
  const alphabet = hashAlphabets[rules.hashCharacters ?? 'base64']
  // With two groups in the separator, `split` gives: text, key, length, text, key, length, text …
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

/** Any single character may stand where the name has one that a bundler may find unsafe in a file name. */
function anyUnsafe(text: string): string {
  return escapePattern(text.replaceAll(/[^\w./-]/gu, '\0')).replaceAll('\0', '.')
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`)
}
