/**
 * Returns the address of a file in `public`, whose name may have any characters. It does not encode plus signs: a
 * path may contain them, and Vite's own servers do not decode `%2B`.
 */
export function publicFile(path: string): string {
  return import.meta.env.BASE_URL + encodeURIComponent(path).replace(/%2F/g, '/').replace(/%2B/g, '+')
}
