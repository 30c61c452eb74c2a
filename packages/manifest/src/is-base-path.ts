/** Characters that end the path of a URL or that the server rejects in requests. */
const unfitCharacter = /[\p{Cc}?#\\]/u

/**
 * Returns whether a text is a valid base path: `/`, or decoded segments between slashes. White space is allowed, as in
 * file names.
 */
export function isBasePath(text: string): boolean {
  if (text === '/') return true
  if (!text.startsWith('/') || !text.endsWith('/')) return false
  if (unfitCharacter.test(text) || !text.isWellFormed()) return false
  const segments = text.slice(1, -1).split('/')
  return segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..')
}
