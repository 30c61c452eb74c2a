/** The `homepage` of each published package.json. */
const homepage = 'https://serve-dist.github.io/serve-dist/'

/**
 * Returns the URL of a page of the documentation site, for messages.
 *
 * @param page - The name of a file in `docs`, without `.md`.
 */
export function documentUrl(page: string): string {
  return `${homepage}${page}`
}
