import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'

/** What a process and all that it started have used. */
export interface ProcessUsage {
  /** User and system time since start. */
  readonly cpuSeconds: number
  /** Peak resident bytes, summed: shared memory counts once for each process. */
  readonly peakBytes: number
}

/** CPU time on this machine so far, in seconds. */
export interface MachineClocks {
  /** Used by all processes, and stolen by other machines on the same hardware. */
  readonly everybody: number
  /** Of that, what other machines have stolen. */
  readonly stolen: number
  /** Used by the harness and by its children that have ended. */
  readonly harness: number
}

/** `USER_HZ`, which is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

const ended: ProcessUsage = { cpuSeconds: 0, peakBytes: 0 }

/**
 * Reads what a process and its children have used from `/proc`.
 *
 * @throws Error with the code ENOENT when the process has ended; its children may end at any time.
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
  // proc(5): 5 resets VmHWM. A process that has ended, or belongs to somebody else, keeps its peak.
  await Promise.all(tree.map((one) => writeFile(`/proc/${one}/clear_refs`, '5').catch(() => {})))
}

/**
 * Reads what a process and its children hold in memory beside the page cache: anonymous and shared pages, those of
 * several processes once (PSS), and memory files (`memfd_create`) that are open and not mapped.
 */
export async function readHeldBytes(pid: number): Promise<number> {
  const tree = await listTree(pid)
  const mapped = await Promise.all(tree.map((one) => readMapped(one).catch(() => 0)))
  const files = new Map((await Promise.all(tree.map((one) => listMemoryFiles(one).catch(() => [])))).flat())
  return [...mapped, ...files.values()].reduce((sum, bytes) => sum + bytes, 0)
}

async function readMapped(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const sizes = rollup.matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+) kB$/gm)
  return Array.from(sizes, ([, kilobytes]) => Number(kilobytes) * 1024).reduce((sum, bytes) => sum + bytes, 0)
}

/** Each inode with its bytes. */
async function listMemoryFiles(pid: number): Promise<[number, number][]> {
  const folder = `/proc/${pid}/fd`
  const found = (await readdir(folder)).map(async (name): Promise<[number, number][]> => {
    const target = await readlink(`${folder}/${name}`).catch(() => '')
    if (!target.startsWith('/memfd:')) return []
    const { ino, blocks } = await stat(`${folder}/${name}`)
    return [[ino, blocks * 512]]
  })
  return (await Promise.all(found)).flat()
}

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
  const [times, status] = await Promise.all([readTimes(pid), readFile(`/proc/${pid}/status`, 'utf8')])
  const [user = 0, system = 0] = times
  const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
  return { cpuSeconds: (user + system) / ticksPerSecond, peakBytes: peak * 1024 }
}

/** Reads the clocks of the machine and of this process. */
export async function readMachineClocks(): Promise<MachineClocks> {
  const [machine, own] = await Promise.all([readFile('/proc/stat', 'utf8'), readTimes('self')])
  // proc(5): user nice system idle iowait irq softirq steal. Interrupts are not told apart from our own.
  const fields = (machine.split('\n')[0]?.slice(5) ?? '').split(' ').map(Number)
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = fields
  return {
    everybody: (user + nice + system + steal) / ticksPerSecond,
    stolen: steal / ticksPerSecond,
    harness: own.reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond,
  }
}

/** `utime`, `stime`, `cutime` and `cstime`, in ticks. */
async function readTimes(pid: number | 'self'): Promise<readonly number[]> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8')
  // proc(5): fields 14 to 17; the name, in parentheses before them, may hold spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map(Number)
}
