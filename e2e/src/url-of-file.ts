/** Returns the URL of a build's file. `base` is the URL of its `index.html`. */
export function urlOfFile(base: URL, filePath: string): URL {
  return new URL(filePath.split('/').map(encodeURIComponent).join('/'), base)
}
