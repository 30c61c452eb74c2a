const controlCharacter = /\p{Cc}/u
/** Matches paths without problems quickly, because a build can have 10,000 paths. */
const ordinaryPath = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/

/**
 * Returns the reason why a file with this path can never be served, or `undefined`. The path is relative with `/`. The
 * listing of folders, the manifest's parser and every host use this rule.
 */
export function pathProblem(path: string): string | undefined {
  if (ordinaryPath.test(path)) return undefined
  if (path === '') return 'it is empty'
  if (path.startsWith('/')) return 'it is not relative'
  if (path.includes('\\')) return 'it holds a backslash, which no URL can name'
  if (controlCharacter.test(path)) return 'it holds a control character'
  if (!path.isWellFormed()) return 'it is not well-formed Unicode'
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.' || segment === '..') return `it has the segment "${segment}"`
    if (segment.startsWith('.') && segment !== '.well-known') {
      return `dotfiles other than .well-known are not served ("${segment}")`
    }
  }
  return undefined
}
