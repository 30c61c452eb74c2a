import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Where control groups of version 2 and 1 have the limit of memory. */
const hierarchies = [
  { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', events: 'memory.oom_control' },
] as const

/** A control group whose processes may have so much memory together. */
export interface MemoryGroup {
  /** The file that takes the ids of its processes. */
  readonly processes: string
  /** How many of them the system has killed, as they needed more. */
  readonly killed: () => Promise<number>
}

/** Makes one for a test; `undefined` where that is not allowed, as to others than root. */
export async function createMemoryGroup(bytes: number): Promise<MemoryGroup | undefined> {
  for (const { root, limit, events } of hierarchies) {
    const folder = join(root, `serve-dist-${process.pid}`)
    const made = await mkdir(folder).then(
      () => true,
      () => false,
    )
    if (!made) continue
    onTestFinished(() => rmdir(folder))
    // Of a hierarchy that is not here the files are not, either.
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
