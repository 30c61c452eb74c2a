import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path/posix'

/** Answers the text of a file, or nothing where there is none. */
export type ReadText = (path: string) => string | undefined

/**
 * How many cores this process may keep busy: those that it may run on (affinity mask, cpuset), or as many as
 * the CPU quota of its control groups pays for, rounded up, where that is less.
 */
export function countUsableCores(): number {
  return Math.min(availableParallelism(), Math.max(1, Math.ceil(readCpuQuota(readText))))
}

/**
 * The CPU time per time that the control groups of this process grant: the least of all its ancestors', and
 * `Infinity` where none sets a limit or there are no control groups. Reads versions 1 and 2.
 */
export function readCpuQuota(read: ReadText): number {
  const memberships = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'))
  const quotas = memberships.flatMap(([, controllers = '', ...path]) => {
    // A line's path may hold colons; one above the namespace's root begins with `/..`.
    const groups = withAncestors(path.join(':').replace(/^(?:\/\.\.)+/, '') || '/')
    if (controllers === '') {
      return groups.map((group) => quotaOfVersion2(read(join('/sys/fs/cgroup', group, 'cpu.max'))))
    }
    if (!controllers.split(',').includes('cpu')) return []
    return [controllers, 'cpu'].flatMap((mount) =>
      groups.map((group) => quotaOfVersion1(join('/sys/fs/cgroup', mount, group), read)),
    )
  })
  return Math.min(Infinity, ...quotas)
}

/** In a container the path may be the host's, of which only the root is mounted: every level is asked. */
function withAncestors(group: string): string[] {
  return group === '/' ? [group] : [group, ...withAncestors(dirname(group))]
}

/** `max 100000` or `150000 100000`: quota and period in microseconds. */
function quotaOfVersion2(text: string | undefined): number {
  const [quota, period] = (text ?? '').split(' ')
  return ratio(quota, period)
}

/** A quota of -1 is none. */
function quotaOfVersion1(folder: string, read: ReadText): number {
  return ratio(read(join(folder, 'cpu.cfs_quota_us')), read(join(folder, 'cpu.cfs_period_us')))
}

function ratio(quota: string | undefined, period: string | undefined): number {
  const value = Number(quota) / Number(period)
  return value > 0 ? value : Infinity
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not Linux, or no such group: no limit from there.
    return undefined
  }
}
