import { readdir, readFile, readlink, stat } from 'node:fs/promises'

/** The CPU time of this machine since its start, in seconds. */
export interface MachineClocks {
  /** Time of all processes, and of other virtual machines on the same hardware. */
  readonly all: number
  /** Time of the harness and of its children that have ended. */
  readonly harness: number
}

/** `USER_HZ`, which is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/**
 * Reads the user and system time of a process and its children from `/proc`, in seconds.
 *
 * @throws Error with the code ENOENT if the process has ended. Its children may end at any time.
 */
export async function readCpuSeconds(pid: number): Promise<number> {
  const [root, ...children] = await listTree(pid)
  const times = await Promise.all([readTimes(root), ...children.map((one) => readTimes(one).catch(() => []))])
  return sum(times.map(([user = 0, system = 0]) => user + system)) / ticksPerSecond
}

/**
 * Reads the CPU time of a process that has not ended a thread, in milliseconds. `schedstat` counts nanoseconds, `stat`
 * steps of 10 ms.
 */
export async function readStartCpu(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')),
  )
  return sum(texts.map((text) => Number.parseInt(text, 10))) / 1e6
}

/**
 * Reads the memory of a process and its children without the page cache, in bytes: anonymous and shared pages, counted
 * once for several processes (PSS), and open memory files (`memfd_create`) that are not mapped.
 */
export async function readHeldBytes(pid: number): Promise<number> {
  const tree = await listTree(pid)
  const mapped = await Promise.all(tree.map((one) => readMapped(one).catch(() => 0)))
  const files = new Map((await Promise.all(tree.map((one) => listMemoryFiles(one).catch(() => [])))).flat())
  return sum([...mapped, ...files.values()])
}

async function readMapped(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  const sizes = rollup.matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+) kB$/gm)
  return sum(Array.from(sizes, ([, kilobytes]) => Number(kilobytes) * 1024))
}

/** Lists inodes with their bytes. */
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

/** Reads the clocks of the machine and of this process. */
export async function readMachineClocks(): Promise<MachineClocks> {
  const [machine, own] = await Promise.all([readFile('/proc/stat', 'utf8'), readTimes('self')])
  // proc(5): user nice system idle iowait irq softirq steal. The interrupts of other processes and our own are one number.
  const fields = (machine.split('\n')[0]?.slice(5) ?? '').split(' ').map(Number)
  const [user = 0, nice = 0, system = 0, , , , , steal = 0] = fields
  return { all: (user + nice + system + steal) / ticksPerSecond, harness: sum(own) / ticksPerSecond }
}

/** Reads `utime`, `stime`, `cutime` and `cstime`, in ticks. */
async function readTimes(pid: number | 'self'): Promise<readonly number[]> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8')
  // proc(5): fields 14 to 17. The name in parentheses before them may contain spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).map(Number)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
