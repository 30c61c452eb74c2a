/** Returns a glob that matches only this path. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[!$()*+?@[\]^{|}]/g, String.raw`\$&`)
}
