import { readdir, readFile, writeFile } from 'node:fs/promises'

/** What a process and all that it started have used. */
export interface ProcessUsage {
  /** User and system time since start. */
  readonly cpuSeconds: number
  /** Peak resident bytes, summed: what processes share counts once for each. */
  readonly peakBytes: number
}

/** `USER_HZ`, which is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/**
 * Reads it from `/proc`.
 *
 * @throws Error with the code ENOENT when the process has ended; what it started may end at any time.
 */
export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  const [root, ...others] = await listTree(pid)
  const usages = await Promise.all([
    readOne(root),
    ...others.map((child) => readOne(child).catch(() => ended)),
  ])
  return {
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakBytes: usages.reduce((sum, { peakBytes }) => sum + peakBytes, 0),
  }
}

/** Sets the peaks of a process and of all that it started to what they have resident now. */
export async function forgetPeaks(pid: number): Promise<void> {
  const tree = await listTree(pid).catch(() => [])
  // proc(5): 5 resets VmHWM. One that has ended meanwhile, or that belongs to somebody else, keeps its peak.
  await Promise.all(tree.map((one) => writeFile(`/proc/${one}/clear_refs`, '5').catch(() => {})))
}

const ended: ProcessUsage = { cpuSeconds: 0, peakBytes: 0 }

async function listTree(pid: number): Promise<[number, ...number[]]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8')),
  )
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
  const trees = await Promise.all(children.map((child) => listTree(child).catch(() => [])))
  return [pid, ...trees.flat()]
}

async function readOne(pid: number): Promise<ProcessUsage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  // proc(5): the name, in parentheses, may hold spaces; after it, utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
  return { cpuSeconds: ticks / ticksPerSecond, peakBytes: peak * 1024 }
}
