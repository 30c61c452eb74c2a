/** Formats a time in milliseconds since the epoch as ISO 8601 in UTC, without fractions. */
export function isoSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
