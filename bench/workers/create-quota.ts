import { existsSync } from 'node:fs'
import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A control group whose processes get a limited share of the processor. */
export interface Quota {
  /** Takes the id of a process. */
  readonly processesFile: string
  remove(): Promise<void>
}

const microseconds = 100_000

/**
 * Makes a control group, of version 1 or 2, whose processes get so many cores' time.
 *
 * @returns nothing where there are no control groups, or they may not be made.
 */
export async function createQuota(cores: number): Promise<Quota | undefined> {
  const quota = String(cores * microseconds)
  const isVersion2 = existsSync('/sys/fs/cgroup/cgroup.controllers')
  const group = join('/sys/fs/cgroup', isVersion2 ? '' : 'cpu', `serve-dist-bench-${process.pid}`)
  try {
    await mkdir(group)
    if (isVersion2) {
      await writeFile(join(group, 'cpu.max'), `${quota} ${microseconds}`)
    } else {
      await writeFile(join(group, 'cpu.cfs_period_us'), String(microseconds))
      await writeFile(join(group, 'cpu.cfs_quota_us'), quota)
    }
  } catch {
    return undefined
  }
  return {
    processesFile: join(group, 'cgroup.procs'),
    remove: async () => {
      await rmdir(group)
    },
  }
}
