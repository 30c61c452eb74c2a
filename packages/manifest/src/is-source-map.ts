/** Whether a path is that of a source map, by the names that bundlers give them, or of one that any tool compressed. */
export function isSourceMap(path: string): boolean {
  return /\.(?:[cm]?js|css|wasm)\.map(?:\.(?:zst|br|gz))?$/i.test(path)
}
