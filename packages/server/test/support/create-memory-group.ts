import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** The paths and names of memory limits in control groups of version 2 and 1. */
const hierarchies = [
  { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', events: 'memory.oom_control' },
] as const

/** A control group with a common memory limit for its processes. */
export interface MemoryGroup {
  /** The file that takes the IDs of its processes. */
  readonly processes: string
  /** Returns the number of its processes that the kernel killed for lack of memory. */
  readonly killed: () => Promise<number>
}

/** Creates a control group for a test. Returns `undefined` if the user may not, unlike root. */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup | undefined> {
  for (const { root, limit, events } of hierarchies) {
    const folder = join(root, `serve-dist-${process.pid}`)
    const made = await mkdir(folder).then(
      () => true,
      () => false,
    )
    if (!made) continue
    onTestFinished(() => rmdir(folder))
    // If the hierarchy does not exist, its files do not, either.
    const limited = await writeFile(join(folder, limit), String(bytes), { flag: 'r+' }).then(
      () => true,
      () => false,
    )
    if (!limited) continue
    return {
      processes: join(folder, 'cgroup.procs'),
      killed: async () => {
        const [, count] = /^oom_kill (\d+)/m.exec(await readFile(join(folder, events), 'utf8')) ?? []
        return Number(count)
      },
    }
  }
  return undefined
}
