import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from './temporary-directory.ts'
import { testedEngine } from './tested-engine.ts'

/**
 * Returns flags that start two worker processes. The native engine uses threads unless it has an application,
 * so the flags add one that does nothing.
 */
export async function twoProcessFlags(): Promise<readonly string[]> {
  const flags = ['--port', '0', '--workers', '2']
  if (testedEngine === 'node') return flags
  const module = join(await temporaryDirectory(), 'entry.mjs')
  await writeFile(module, 'export default (request, response, next) => next()')
  return [...flags, '--ssr', module]
}
