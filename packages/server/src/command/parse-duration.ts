import { longestTimeout } from '../protocol/connection-limits.ts'

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * Reads a length of time with its unit: `500ms`, `10s`, `1.5m`, `1h`; `0` needs none.
 *
 * @returns whole milliseconds.
 * @throws TypeError when it is none, or longer than a timer can wait.
 */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|h)$/i.exec(text.trim())
  const unit = units[match?.[2]?.toLowerCase() ?? ''] ?? Number.NaN
  const milliseconds = text.trim() === '0' ? 0 : Math.round(Number(match?.[1]) * unit)
  if (!(milliseconds <= longestTimeout)) {
    throw new TypeError(`expected a duration such as 500ms, 10s or 1m, 24 days at most, found "${text}"`)
  }
  return milliseconds
}
