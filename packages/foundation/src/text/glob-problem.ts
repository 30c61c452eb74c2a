/** The maximum length of a path on Linux (`PATH_MAX`). */
const longestGlob = 4096
const maximumStars = 3
const innerGroup = /[({][^(){}]*[)}]/
const repeatedStars = /[*+]\([^)]*[*+]/

/**
 * Returns the problem of a glob that is empty, too long or too slow to match, otherwise `undefined`. Globs become regular expressions that
 * backtrack. Each star of a segment multiplies the steps by the length of the name: 200 letters and four stars take
 * 0.3 s per file. A star in a repeated group doubles the steps with each letter.
 */
export function globProblem(glob: string): string | undefined {
  if (glob === '') return 'expected a glob'
  if (glob.length > longestGlob) return `expected a glob of at most ${longestGlob} characters`
  if (repeatedStars.test(glob)) return 'expected a glob without "*" or "+" in a repeated group'
  const crowded = glob.split('/').find((segment) => countStars(segment) > maximumStars)
  if (crowded === undefined) return undefined
  return `expected a glob with at most ${maximumStars} stars in a segment, because each star multiplies the matching time`
}

/** Counts the stars of a segment. For a group, the alternative with the most stars counts. `**` counts as one star. */
function countStars(segment: string): number {
  let text = segment.replaceAll(/\\./g, '-')
  for (let group = innerGroup.exec(text)?.[0]; group !== undefined; group = innerGroup.exec(text)?.[0]) {
    const counts = group.split(/[,|]/).map(starsIn)
    text = text.replace(group, '*-'.repeat(Math.max(...counts)))
  }
  return starsIn(text)
}

function starsIn(text: string): number {
  return text.match(/\*+/g)?.length ?? 0
}
