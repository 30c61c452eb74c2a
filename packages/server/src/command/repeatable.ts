/**
 * Collects the values of an option that may be given several times. One value each: `<glob...>` would take the
 * folder for a further one.
 */
export function repeatable(glob: string, earlier: readonly string[] = []): string[] {
  return [...earlier, glob]
}
