/** Returns whether a path is that of a source map or a compressed source map, by the name. */
export function isSourceMap(path: string): boolean {
  return /\.(?:[cm]?js|css|wasm)\.map(?:\.(?:zst|br|gz))?$/i.test(path)
}
