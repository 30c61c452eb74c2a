import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadInput, LoadResult } from './workload.ts'
import { runProcess } from '../run-process.ts'

const program = fileURLToPath(new URL('socket-load-program.js', import.meta.url))

/**
 * Sends load with our own Node program: for HEAD, at a fixed rate, and if `wrk` is missing. Each answer must have the same
 * status and number of bytes as in the check.
 */
export async function socketLoad(input: LoadInput): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-load-'))
  try {
    // Thousands of requests are too long for an argument.
    const file = join(folder, 'input.json')
    await writeFile(file, JSON.stringify(input))
    return JSON.parse(await runProcess('taskset', ['-c', input.cores, process.execPath, program, file]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
