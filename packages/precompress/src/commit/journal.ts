import { type Manifest, parseManifest, pathProblem } from '@serve-dist/manifest'

/** The digest that a file of ours has, once it is there. */
export interface VariantClaim {
  /** Relative to the build's folder. */
  readonly path: string
  readonly sha256: string
}

/** What the next pass must know if this one does not come to its end. */
export interface Journal {
  /** The manifest that is being replaced: its times live on. */
  readonly replaces: Manifest | undefined
  /** Every variant that is ours or about to be. */
  readonly variants: readonly VariantClaim[]
}

export function stringifyJournal(journal: Journal): string {
  return `${JSON.stringify({ version: 1, replaces: journal.replaces ?? null, variants: journal.variants })}\n`
}

/** Reads the text of a journal; throws when it is not one. */
export function parseJournal(text: string): Journal {
  const document: unknown = JSON.parse(text)
  const version = fieldOf(document, 'version')
  const variants = fieldOf(document, 'variants')
  const replaces = fieldOf(document, 'replaces')
  if (version !== 1 || !Array.isArray(variants) || !variants.every(isClaim)) {
    throw new TypeError('it is not a journal of version 1')
  }
  return {
    replaces: replaces === null ? undefined : parseManifest(JSON.stringify(replaces)),
    variants,
  }
}

function isClaim(value: unknown): value is VariantClaim {
  const path = fieldOf(value, 'path')
  const sha256 = fieldOf(value, 'sha256')
  return (
    typeof path === 'string' &&
    pathProblem(path) === undefined &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
