/** A file of a bundle, as far as Rollup and Rolldown agree on it; assets import nothing. */
export interface ImportingFile {
  readonly type: 'chunk' | 'asset'
  readonly imports?: readonly string[]
}

/** Whether a chunk imports a file at once, by itself or by way of other chunks. */
export function importsEnvironment(
  chunk: ImportingFile,
  path: string,
  bundle: Readonly<Record<string, ImportingFile>>,
): boolean {
  const seen = new Set<ImportingFile>()
  const isReached = (file: ImportingFile): boolean => {
    if (seen.has(file)) return false
    seen.add(file)
    return (file.imports ?? []).some((name) => {
      const imported = bundle[name]
      return name === path || (imported !== undefined && isReached(imported))
    })
  }
  return isReached(chunk)
}
