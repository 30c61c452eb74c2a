import { readFile } from 'node:fs/promises'

/** Returns the IDs of the child processes of a process. Linux only. */
export async function readChildProcessIds(processId: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${processId}/task/${processId}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/**
 * Returns the ID of one child process. Throws without a child process, because a signal to process 0 would end the
 * tests.
 */
export async function readChildProcessId(processId: number | undefined): Promise<number> {
  const [child] = await readChildProcessIds(processId)
  if (child === undefined) throw new Error(`process ${processId} has started no other`)
  return child
}

/** Tells whether a process exists and has not ended. */
export async function isAlive(processId: number): Promise<boolean> {
  const status = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => '')
  return status !== '' && !/\) [ZX] /.test(status)
}
