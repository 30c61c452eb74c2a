/** Which earlier builds stay. */
export interface BuildRetention {
  /** The number of builds that were superseded last. */
  readonly generations: number
  /** Milliseconds for which a build stays after it was superseded. */
  readonly age: number
}

/** Five builds, and those of the last seven days. */
export const defaultRetention: BuildRetention = { generations: 5, age: 7 * 24 * 60 * 60 * 1000 }

/**
 * Returns whether an earlier build stays. A build that was live for a month does not go with the deploy that replaces it,
 * because retention counts from when a build was superseded.
 *
 * @param index - of the builds, newest first: 0 for the one that the current build replaced.
 * @param sinceSuperseded - in milliseconds.
 */
export function isRetained(index: number, sinceSuperseded: number, retention: BuildRetention): boolean {
  return index < retention.generations || sinceSuperseded < retention.age
}
