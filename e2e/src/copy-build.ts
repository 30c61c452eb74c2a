import { cp } from 'node:fs/promises'
import path from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

/** A copy of a build's folder that the running test may spoil. */
export async function copyBuild(dist: string): Promise<string> {
  const copy = path.join(await temporaryFolder(), 'dist')
  await cp(dist, copy, { recursive: true })
  return copy
}
