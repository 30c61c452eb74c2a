import type { Manifest } from '@serve-dist/manifest'

/**
 * A line about times that this machine has not reached: RFC 9110 §8.8.2.1 allows no `Last-Modified` later than `Date`,
 * and where the clocks differ none of a build's times says what it seems to. `undefined` where all are of the past.
 */
export function describeFutureTimes({ files, timesAreFixed }: Manifest): string | undefined {
  if (timesAreFixed === true) return undefined
  const now = `${new Date().toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`
  // All have one form, in which the order of the texts is that of the times.
  const ahead = files.find(({ lastModified }) => lastModified > now)?.lastModified
  if (ahead === undefined) return undefined
  return `the build's times are ahead of the clock of this machine (${ahead}, now ${now}), so that no Last-Modified is sent: set the clock, then restart or reload`
}
