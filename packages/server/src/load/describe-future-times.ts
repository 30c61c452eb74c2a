import type { Manifest } from '@serve-dist/manifest'

/**
 * Returns a warning if the build's times are in the future. RFC 9110 §8.8.2.1 does not allow a `Last-Modified` after
 * `Date`, and all times of the build are unreliable if the clocks differ.
 */
export function describeFutureTimes({ files, timesAreFixed }: Manifest): string | undefined {
  if (timesAreFixed === true) return undefined
  const now = `${new Date().toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`
  // All times have the same format, so their texts sort by time.
  const ahead = files.find(({ lastModified }) => lastModified > now)?.lastModified
  if (ahead === undefined) return undefined
  return `the build's times are ahead of this machine's clock (${ahead}, now ${now}), so the server sends no Last-Modified. Set the clock, then restart or reload.`
}
