/** What would end the path of a URL, or what a request is refused for. */
const unfitCharacter = /[\p{Cc}?#\\]/u

/**
 * Whether a build can be served under this path, decoded: `/`, or segments between slashes. White space is
 * data there, as in the name of a file.
 */
export function isBasePath(text: string): boolean {
  if (text === '/') return true
  if (!text.startsWith('/') || !text.endsWith('/')) return false
  if (unfitCharacter.test(text) || !text.isWellFormed()) return false
  const segments = text.slice(1, -1).split('/')
  return segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}
