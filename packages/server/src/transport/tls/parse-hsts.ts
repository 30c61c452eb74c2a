const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 }

/**
 * Reads how long browsers are to use HTTPS alone: `1y`, `30d`, `3600s`, or the field's own value, such as
 * `max-age=63072000; includeSubDomains`.
 *
 * @returns the value of `Strict-Transport-Security` (RFC 6797 §6.1).
 * @throws TypeError when it is none.
 */
export function parseHsts(text: string): string {
  const value = text.trim()
  const match = /^(\d{1,9})([smhdwy])$/i.exec(value)
  if (match?.[1] !== undefined)
    return `max-age=${Number(match[1]) * (units[match[2]?.toLowerCase() ?? ''] ?? 1)}`
  if (/^max-age=\d{1,12}(?:\s*;\s*(?:includeSubDomains|preload))*$/i.test(value)) return value
  throw new TypeError(
    `expected a time such as 1y or 30d, or a value such as "max-age=31536000; includeSubDomains", found "${text}"`,
  )
}
