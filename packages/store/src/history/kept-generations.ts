import { type BuildRetention, defaultRetention as defaultOfBuilds, isRetained, s } from '@serve-dist/manifest'
import type { History, NamedBlob } from '../layout.ts'

/** Which generations stay besides the current one. */
export interface Retention extends BuildRetention {
  /** As long as all together have no more bytes than this, each blob counted once. */
  readonly bytes: number
}

/** Five generations, and those of the last seven days, within 1 GiB. */
export const defaultRetention: Retention = { ...defaultOfBuilds, bytes: 1024 ** 3 }

// By a value that is no number, all builds but the current one would go.
const amount = s.expecting<number>('a number, 0 or more', (value) => typeof value === 'number' && value >= 0)
const retentionSchema = s.objectOf<Retention>({
  generations: s.withDefault(amount, () => defaultRetention.generations),
  age: s.withDefault(amount, () => defaultRetention.age),
  bytes: s.withDefault(amount, () => defaultRetention.bytes),
})

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID` that lists every wrong value.
 */
export function resolveRetention(retention: Partial<Retention>): Retention {
  return s.readOptions(retentionSchema, retention, 'retention')
}

/** What stays of a history. */
export interface KeptGenerations {
  /** Newest first; the current one leads. */
  readonly ids: readonly string[]
  /** Of their blobs, each counted once. */
  readonly bytes: number
  /** Whether the current one and the one that it replaced are above the cap: it takes neither. */
  readonly isAboveCap: boolean
}

/**
 * Chooses the generations that stay.
 *
 * @param blobs - of each generation; one that is missing here counts as empty.
 * @param now - the store's time, in milliseconds since the epoch.
 */
export function keptGenerations(
  { history }: History,
  blobs: ReadonlyMap<string, readonly NamedBlob[]>,
  retention: Retention,
  now: number,
): KeptGenerations {
  const newest = history.filter(({ id }, index) => history.findIndex((row) => row.id === id) === index)
  const wanted = newest.filter(
    ({ superseded }, index) =>
      superseded === undefined || isRetained(index - 1, now - Date.parse(superseded), retention),
  )
  const ids: string[] = []
  const counted = new Set<string>()
  let bytes = 0
  // The oldest go first: from the first that is above the cap on, all do.
  for (const [index, { id }] of wanted.entries()) {
    const added = (blobs.get(id) ?? []).filter(({ sha256 }) => !counted.has(sha256))
    const total = added.reduce((sum, { size }) => sum + size, bytes)
    const isSafe = index === 0 || id === newest[1]?.id
    if (total > retention.bytes && !isSafe) break
    ids.push(id)
    for (const { sha256 } of added) counted.add(sha256)
    bytes = total
  }
  return { ids, bytes, isAboveCap: bytes > retention.bytes }
}
