/** The limits of the earlier builds that are kept. */
export interface BuildRetention {
  /** The number of most recently replaced builds. */
  readonly generations: number
  /** The time to keep a replaced build, in milliseconds. */
  readonly age: number
}

/** The default: five builds and those of the last seven days. */
export const defaultRetention: BuildRetention = { generations: 5, age: 7 * 24 * 60 * 60 * 1000 }

/**
 * Returns whether an earlier build is kept. The age counts from its replacement, so that a deploy does not delete a
 * build that was live for a month.
 *
 * @param index - the position of the build, newest first: 0 for the one that the current build replaced.
 * @param sinceSuperseded - the time since the replacement in milliseconds.
 */
export function isRetained(index: number, sinceSuperseded: number, retention: BuildRetention): boolean {
  return index < retention.generations || sinceSuperseded < retention.age
}
