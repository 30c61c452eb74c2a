import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadInput, LoadResult } from './workload.ts'
import { runProcess } from '../run-process.ts'

const program = fileURLToPath(new URL('socket-load-program.js', import.meta.url))

/**
 * Loads by a Node process with sockets of our own: for HEAD, at a fixed rate, and if there is no `wrk`. Each answer
 * must have the status and the number of bytes that the check saw.
 */
export async function socketLoad(input: LoadInput): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-load-'))
  try {
    // Thousands of requests are more than an argument may hold.
    const file = join(folder, 'input.json')
    await writeFile(file, JSON.stringify(input))
    return JSON.parse(await runProcess('taskset', ['-c', input.cores, process.execPath, program, file]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
