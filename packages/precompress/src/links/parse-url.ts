/** Resolves a URL like `URL.parse`, which needs Node 22.1. */
export function parseUrl(url: string, base: string | URL): URL | undefined {
  return URL.canParse(url, String(base)) ? new URL(url, base) : undefined
}
