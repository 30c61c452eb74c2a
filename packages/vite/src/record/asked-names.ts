import { createHash } from 'node:crypto'

/** What both bundlers hand to an `assetFileNames` function. */
export interface EmittedAsset {
  readonly names: readonly string[]
  readonly source: string | Uint8Array
}

/** `assetFileNames` of an output, with whatever else the bundler hands to the function. */
type AssetFileNames<Asset extends EmittedAsset> = string | ((asset: Asset) => string)

/** What a bundler asked of `assetFileNames`, which it does for no file whose name a plugin chose. */
export interface AskedNames {
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

/** Starts a record of names that nobody has asked for yet. */
export function createAskedNames(): AskedNames {
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
