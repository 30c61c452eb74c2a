import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'

/** Fills a folder, unless an earlier run has; one that was left half-filled is begun anew. */
export async function makeFolderOnce(
  folder: string,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  if (existsSync(folder)) return
  const unfinished = `${folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  await fill(unfinished)
  await rename(unfinished, folder)
}
