import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path/posix'

/** Reads a text file. Returns `undefined` if the file does not exist. */
export type ReadText = (path: string) => string | undefined

/**
 * Returns the number of cores that this process may use. It respects the affinity mask, the cpuset and the CPU quota of
 * the control groups, rounded up.
 */
export function countUsableCores(): number {
  return Math.min(availableParallelism(), Math.max(1, Math.ceil(readCpuQuota(readText))))
}

/**
 * Returns the CPU quota of this process in cores: the smallest quota of its control groups and their ancestors. Returns
 * `Infinity` without a limit. Supports cgroup versions 1 and 2.
 */
export function readCpuQuota(read: ReadText): number {
  const memberships = (read('/proc/self/cgroup') ?? '').split('\n').map((line) => line.split(':'))
  const quotas = memberships.flatMap(([, controllers = '', ...path]) => {
    // The path can contain colons. A path above the namespace's root starts with `/..`.
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

/** Returns a group and its ancestors. In a container, the path may be one of the host, and only its root is mounted. */
function withAncestors(group: string): string[] {
  return group === '/' ? [group] : [group, ...withAncestors(dirname(group))]
}

/** Parses the quota and the period in microseconds: `max 100000` or `150000 100000`. */
function quotaOfVersion2(text: string | undefined): number {
  const [quota, period] = (text ?? '').split(' ')
  return ratio(quota, period)
}

/** A quota of -1 means no limit. */
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
    // The system is not Linux, or the group does not exist.
    return undefined
  }
}
