/** A file of a bundle, with the fields that Rollup and Rolldown share. Assets have no imports. */
export interface ImportingFile {
  readonly type: 'chunk' | 'asset'
  readonly imports?: readonly string[]
}

/** Returns whether a chunk imports a file statically, directly or through other chunks. */
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
