/** Returns the first 12 digits of a build's id, for messages. Among a million builds, two would rarely share them. */
export function shortId(buildId: string): string {
  return buildId.slice(0, 12)
}
