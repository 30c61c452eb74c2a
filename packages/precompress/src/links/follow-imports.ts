import type { ChunkNeeds } from '../record/build-record.ts'

/** The chunks of a build by path. */
export type ChunkGraph = ReadonlyMap<string, ChunkNeeds>

/** Returns the chunks and everything that they import, in execution order, and their styles in cascade order. */
export function followImports(
  entries: readonly string[],
  graph: ChunkGraph,
): { readonly modules: readonly string[]; readonly styles: readonly string[] } {
  const seen = new Set<string>()
  const modules: string[] = []
  const styles = new Set<string>()
  const follow = (path: string): void => {
    const needs = graph.get(path)
    if (needs === undefined || seen.has(path)) return
    seen.add(path)
    for (const imported of needs.imports) follow(imported)
    modules.push(path)
    for (const style of needs.styles) styles.add(style)
  }
  for (const entry of entries) follow(entry)
  return { modules, styles: [...styles] }
}
