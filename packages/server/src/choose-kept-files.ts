/**
 * The paths of streamed files that are kept open: the smallest first, as opening a file costs most beside
 * sending it when there is little to send.
 *
 * @param limit - files at most.
 */
export function chooseKeptFiles(
  files: readonly { readonly path: string; readonly size: number }[],
  held: ReadonlySet<string>,
  limit: number,
): ReadonlySet<string> {
  const streamed = files.filter(({ path }) => !held.has(path))
  const first =
    streamed.length > limit ? streamed.toSorted((a, b) => a.size - b.size).slice(0, limit) : streamed
  return new Set(first.map(({ path }) => path))
}
