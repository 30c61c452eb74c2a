/** Groups paths that are equal on a file system that ignores case. */
export function groupCaseCollisions(paths: readonly string[]): string[][] {
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    // Such file systems (APFS, NTFS) also treat composed and decomposed letters as equal.
    const folded = path.normalize('NFC').toLowerCase()
    groups.set(folded, [...(groups.get(folded) ?? []), path])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}
