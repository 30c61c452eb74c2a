const controlCharacter = /\p{Cc}/u
/** Of which none of the rules below could find anything: one look at each of 10,000 paths. */
const ordinaryPath = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/

/**
 * Why a file under this path (relative, with `/`) can never be served, or `undefined` when it can:
 * the one rule for the folder's lister, the manifest's parser and every host.
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
