/** The URL of a file of a build, `base` being the URL that its `index.html` is served under. */
export function urlOfFile(base: URL, filePath: string): URL {
  return new URL(filePath.split('/').map(encodeURIComponent).join('/'), base)
}
