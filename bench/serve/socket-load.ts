import { fileURLToPath } from 'node:url'
import type { LoadInput, LoadResult } from './load.ts'
import { runProcess } from './run-process.ts'

const program = fileURLToPath(new URL('socket-load-program.js', import.meta.url))

/**
 * Loads by sockets of our own in a Node process: for HEAD, and where there is no `wrk`. Each answer must
 * have the status and the very number of bytes that the check saw.
 */
export async function socketLoad(input: LoadInput): Promise<LoadResult> {
  const parameters = ['-c', input.cores, process.execPath, program, JSON.stringify(input)]
  const output = await runProcess('taskset', parameters)
  return JSON.parse(output)
}
