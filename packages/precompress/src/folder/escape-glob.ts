/** A glob that matches this path alone. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[!$()*+?@[\]^{|}]/g, String.raw`\$&`)
}
