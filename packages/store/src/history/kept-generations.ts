import { type BuildRetention, defaultRetention as defaultOfBuilds, isRetained, s } from '@serve-dist/manifest'
import type { History, NamedBlob } from '../layout.ts'

/** Limits of the builds that a store keeps besides the current one. */
export interface Retention extends BuildRetention {
  /** The maximum number of bytes of all builds, with each blob counted once. */
  readonly bytes: number
}

/** The default: five builds and those of the last seven days, within 1 GiB. */
export const defaultRetention: Retention = { ...defaultOfBuilds, bytes: 1024 ** 3 }

// A value that is not a number would delete all builds except the current one.
const amount = s.expecting<number>('a number, 0 or more', (value) => typeof value === 'number' && value >= 0)
const retentionSchema = s.objectOf<Retention>({
  generations: s.withDefault(amount, () => defaultRetention.generations),
  age: s.withDefault(amount, () => defaultRetention.age),
  bytes: s.withDefault(amount, () => defaultRetention.bytes),
})

/**
 * Fills in the defaults.
 *
 * @throws OperatorError `SD_OPTION_INVALID` that lists every invalid value.
 */
export function resolveRetention(retention: Partial<Retention>): Retention {
  return s.readOptions(retentionSchema, retention, 'retention')
}

/** The builds that a history keeps. */
export interface KeptGenerations {
  /** The ids of the builds, newest first. The current build is the first. */
  readonly ids: readonly string[]
  /** The number of bytes of their blobs, with each blob counted once. */
  readonly bytes: number
  /** Whether the current build and the one before it exceed the limit. Both are kept nevertheless. */
  readonly isAboveCap: boolean
}

/**
 * Selects the builds to keep.
 *
 * @param blobs - the blobs of each build. A build without an entry counts as empty.
 * @param now - the store's time, in milliseconds since the epoch.
 */
export function keptGenerations(
  { history }: History,
  blobs: ReadonlyMap<string, readonly NamedBlob[]>,
  retention: Retention,
  now: number,
): KeptGenerations {
  const rows = new Map<string, History['history'][number]>()
  for (const row of history) if (!rows.has(row.id)) rows.set(row.id, row)
  const newest = [...rows.values()]
  const wanted = newest.filter(
    ({ superseded }, index) =>
      superseded === undefined || isRetained(index - 1, now - Date.parse(superseded), retention),
  )
  const ids: string[] = []
  const counted = new Set<string>()
  let bytes = 0
  // From the first build that exceeds the limit, all older builds go.
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
