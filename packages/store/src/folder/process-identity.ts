import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/** Which process this is, among those of all machines: where it can be seen, its number, and when it started. */
export function identifyProcess(): string {
  return [where(), process.pid, startOf(readOr('/proc/self/stat')) ?? '-'].join(' ')
}

/**
 * Whether a process has ended.
 *
 * @param identity - what `identifyProcess` answered there.
 * @returns `undefined` where that cannot be told from here.
 */
export async function hasProcessEnded(identity: string): Promise<boolean | undefined> {
  const [place, id, start] = identity.split(' ')
  if (place !== where() || !Number(id)) return undefined
  const status = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
  if (status !== '') return startOf(status) !== start
  // Hidden from this user, or a system without it: another process may have the number by now.
  return isRunning(Number(id)) ? undefined : true
}

/** For messages. */
export function describeProcess(identity: string): string {
  const [place = '', id] = identity.split(' ')
  return id === undefined ? 'a process' : `process ${id} on ${place.split('/')[0]}`
}

/** Containers share a host's name and not its processes; what ran before a boot has gone with its name. */
function where(): string {
  const boot = readOr('/proc/sys/kernel/random/boot_id').trim()
  return [hostname().replaceAll(/[\s/]/g, '-'), boot, namespace()].filter(Boolean).join('/')
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** When the process of /proc/<id>/stat started, in ticks since boot: numbers are given again. None of one that has ended. */
function startOf(status: string): string | undefined {
  // Behind the name, which may hold anything: the state, then 18 others.
  const [state, ...others] = status.slice(status.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? undefined : others[18]
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
