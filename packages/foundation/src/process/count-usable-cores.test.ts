import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { readCpuQuota, countUsableCores } from './count-usable-cores.ts'

/** Files of real machines: `/proc/self/cgroup` and the files of the control groups. */
const captured: Record<string, { quota: number; files: Record<string, string> }> = {
  'a Docker container with cgroup version 2 and --cpus 1.5': {
    quota: 1.5,
    files: { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '150000 100000\n' },
  },
  'a Kubernetes pod without its own namespace and with a limit in an ancestor': {
    quota: 0.5,
    files: {
      '/proc/self/cgroup': '0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope\n',
      '/sys/fs/cgroup/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/kubepods.slice/kubepods-pod1.slice/cpu.max': '50000 100000\n',
      '/sys/fs/cgroup/kubepods.slice/cpu.max': '400000 100000\n',
    },
  },
  'a systemd service without a limit': {
    quota: Infinity,
    files: {
      '/proc/self/cgroup': '0::/user.slice/user-1000.slice/session-2.scope\n',
      '/sys/fs/cgroup/user.slice/cpu.max': 'max 100000\n',
    },
  },
  'a container with cgroup version 1, a host path and its own group as the mounted root': {
    quota: 2,
    files: {
      '/proc/self/cgroup':
        '12:cpuset:/docker/4f1\n4:cpu,cpuacct:/docker/4f1\n1:name=systemd:/docker/4f1\n0::/system.slice\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '200000\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
    },
  },
  'cgroup version 1 with one controller and without a limit': {
    quota: Infinity,
    files: {
      '/proc/self/cgroup': '2:cpuacct:/\n1:cpu:/\n0::/\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
  },
  'a group above the root of its namespace': {
    quota: 3,
    files: { '/proc/self/cgroup': '0::/../../other\n', '/sys/fs/cgroup/cpu.max': '300000 100000\n' },
  },
  'a system without control groups': { quota: Infinity, files: {} },
  'malformed files': {
    quota: Infinity,
    files: { '/proc/self/cgroup': 'nonsense\n0::/', '/sys/fs/cgroup/cpu.max': 'max\n' },
  },
}

describe('readCpuQuota', () => {
  test.each(Object.entries(captured))('reads the quota of %s', (_name, { quota, files }) => {
    expect(readCpuQuota((path) => files[path])).toBe(quota)
  })
})

describe('countUsableCores', () => {
  test('returns a whole number between one and the number of cores', () => {
    expect(Number.isInteger(countUsableCores())).toBe(true)
    expect(countUsableCores()).toBeGreaterThanOrEqual(1)
    expect(countUsableCores()).toBeLessThanOrEqual(availableParallelism())
  })
})
