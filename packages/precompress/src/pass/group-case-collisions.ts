/** Returns the groups of paths that are one path on a file system that takes upper and lower case for the same. */
export function groupCaseCollisions(paths: readonly string[]): string[][] {
  const groups = new Map<string, string[]>()
  for (const path of paths) {
    // Such file systems (APFS, NTFS) take composed and decomposed letters for the same too.
    const folded = path.normalize('NFC').toLowerCase()
    groups.set(folded, [...(groups.get(folded) ?? []), path])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}
