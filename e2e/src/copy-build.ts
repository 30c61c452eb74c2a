import { cp } from 'node:fs/promises'
import path from 'node:path'
import { temporaryFolder } from './temporary-folder.ts'

/** Copies a build's folder, so that the running test may damage the copy. */
export async function copyBuild(dist: string): Promise<string> {
  const copy = path.join(await temporaryFolder(), 'dist')
  await cp(dist, copy, { recursive: true })
  return copy
}
