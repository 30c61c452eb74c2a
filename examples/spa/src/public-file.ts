/**
 * The address of a file in `public`, whatever characters its name has. A plus sign stays as it is: a
 * path may hold one, and Vite's own servers do not decode `%2B`.
 */
export function publicFile(path: string): string {
  return import.meta.env.BASE_URL + encodeURIComponent(path).replace(/%2F/g, '/').replace(/%2B/g, '+')
}
