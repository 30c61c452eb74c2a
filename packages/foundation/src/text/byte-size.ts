const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g'].flatMap((letter, index): [string, number][] => [
    [letter, 1024 ** (index + 1)],
    [`${letter}b`, 1000 ** (index + 1)],
    [`${letter}ib`, 1024 ** (index + 1)],
  ]),
])

/** The expected form of a size, for messages. */
export const byteSizeForm = 'a size such as 65536, 64k or 1.5 MB'

/**
 * Parses a size. The units `kb`, `mb` and `gb` are powers of 1,000; `k`, `kib` and so on are powers of 1,024. Returns
 * `undefined` for an invalid size.
 */
export function byteSizeOf(size: unknown): number | undefined {
  if (typeof size === 'number') return size === Infinity || isCount(size) ? size : undefined
  const match = typeof size === 'string' ? /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(size.trim()) : null
  const bytes = Math.round(Number(match?.[1]) * (units.get(match?.[2]?.toLowerCase() ?? '') ?? Number.NaN))
  return isCount(bytes) ? bytes : undefined
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0
}

const decimalUnits = ['B', 'kB', 'MB', 'GB']

/** Formats bytes in decimal units, as Vite does: `980 B`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes / 1000
  let power = 1
  // 999,950 bytes would be rounded to `1000.0 kB`.
  while (value >= 999.95 && power < decimalUnits.length - 1) {
    value /= 1000
    power += 1
  }
  return `${value.toFixed(1)} ${decimalUnits[power]}`
}
