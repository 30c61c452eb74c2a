import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from '../serve/bench-directory.ts'
import { noise } from '../serve/load/noise.ts'
import type { PreparedWorkload } from '../serve/load/workload.ts'

/** As many bytes of files as are asked for by turns, so that the processor's caches do not hold them all. */
const workingSet = 16 * 1024 * 1024
const mostFiles = 64

/** Files of one size that nothing compresses, and the requests for them. */
export async function writeBodyFiles(size: number): Promise<PreparedWorkload> {
  const directory = join(cacheDirectory, `bodies-${size}`)
  await mkdir(directory, { recursive: true })
  const count = Math.max(4, Math.min(mostFiles, Math.floor(workingSet / size)))
  const names = Array.from({ length: count }, (_, index) => `${index}.bin`)
  for (const [index, name] of names.entries()) await writeFile(join(directory, name), noise(index, size))
  return {
    directory,
    requests: names.map((name) => ({ target: `/${name}`, file: name, method: 'GET', accept: [] })),
    sequence: names.map((_, index) => index),
    newConnections: false,
  }
}
