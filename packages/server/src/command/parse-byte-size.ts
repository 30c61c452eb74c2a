const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

/**
 * Reads a number of bytes with an optional binary unit: `65536`, `64k`, `64KiB`, `1.5m`, `2 GB`.
 *
 * @throws TypeError when it is none.
 */
export function parseByteSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim())
  const unit = units[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN
  const bytes = Math.round(Number(match?.[1]) * unit)
  if (!Number.isSafeInteger(bytes))
    throw new TypeError(`expected a size such as 65536, 64k or 1.5m, found "${text}"`)
  return bytes
}
