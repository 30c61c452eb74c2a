/** As long as any path that a system opens (`PATH_MAX` of Linux). */
const longestGlob = 4096
const maximumStars = 3
/** A group without groups in it. */
const innerGroup = /[({][^(){}]*[)}]/
const repeatedStars = /[*+]\([^)]*[*+]/

/**
 * Why files should not be matched by this glob, or `undefined`. Globs become regular expressions, which try a name that
 * does not match in every combination: each star of a segment multiplies the steps by the name's length (200 letters and
 * four stars: 0.3 s a file), and a star in a repeated group doubles them with each letter.
 */
export function globProblem(glob: string): string | undefined {
  if (glob === '') return 'expected a glob'
  if (glob.length > longestGlob) return `expected a glob of ${longestGlob} characters at most`
  if (repeatedStars.test(glob)) return 'expected a glob without "*" or "+" in a repeated group'
  const crowded = glob.split('/').find((segment) => countStars(segment) > maximumStars)
  if (crowded === undefined) return undefined
  return `expected a glob with ${maximumStars} stars in a segment at most, because each multiplies the time of a match`
}

/** Of a group one member matches: the one with the most stars counts. `**` is one. */
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
