import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from './temporary-directory.ts'
import { testedEngine } from './tested-engine.ts'

/** Flags of two workers that are processes: the native engine's are threads, but beside an application, which has nothing here. */
export async function twoProcessFlags(): Promise<readonly string[]> {
  const flags = ['--port', '0', '--workers', '2']
  if (testedEngine === 'node') return flags
  const module = join(await temporaryDirectory(), 'entry.mjs')
  await writeFile(module, 'export default (request, response, next) => next()')
  return [...flags, '--ssr', module]
}
