/** Resolves a URL as `URL.parse` does, which Node has from 22.1 on. */
export function parseUrl(url: string, base: string | URL): URL | undefined {
  return URL.canParse(url, String(base)) ? new URL(url, base) : undefined
}
