import { withoutPaths } from './report/without-paths.ts'
import type { FoundServer, ServerDefinition } from './peers/server-definition.ts'

/** Those that are on this machine, and why others are not, by their names. */
export async function findServers(
  definitions: readonly ServerDefinition[],
): Promise<{ found: Map<string, FoundServer>; missing: Record<string, string> }> {
  const found = new Map<string, FoundServer>()
  const missing: Record<string, string> = {}
  for (const definition of definitions) {
    const server = await definition.find()
    if (typeof server === 'string') missing[definition.name] = withoutPaths(server)
    else found.set(definition.name, server)
  }
  return { found, missing }
}
