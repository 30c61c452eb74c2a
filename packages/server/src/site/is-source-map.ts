const sourceMapName = /\.(?:[cm]?js|css|wasm)\.map$/i

/** Whether a path of a build is that of a source map, by the names that bundlers give them. */
export function isSourceMap(path: string): boolean {
  return sourceMapName.test(path)
}
