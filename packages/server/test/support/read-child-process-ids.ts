import { readFile } from 'node:fs/promises'

/** The ids of the processes that a process has started; on Linux. */
export async function readChildProcessIds(processId: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${processId}/task/${processId}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** One of them; an error where there is none, for a signal to process 0 would end the tests. */
export async function readChildProcessId(processId: number | undefined): Promise<number> {
  const [child] = await readChildProcessIds(processId)
  if (child === undefined) throw new Error(`process ${processId} has started no other`)
  return child
}

/** Whether there is such a process, and it has not ended. */
export async function isAlive(processId: number): Promise<boolean> {
  const status = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => '')
  return status !== '' && !/\) [ZX] /.test(status)
}
