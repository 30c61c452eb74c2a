import { hasErrorCode } from '@serve-dist/foundation/files/file-error'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'

/**
 * Returns an identity of this process that is unique across machines: the machine, the PID namespace, the process ID and the
 * start time.
 */
export function identifyProcess(): string {
  return [where(), process.pid, startOf(readOr('/proc/self/stat')) ?? '-'].join(' ')
}

/**
 * Returns whether a process has ended, or `undefined` if this process cannot tell.
 *
 * @param identity - the result of `identifyProcess` in that process.
 */
export async function hasProcessEnded(identity: string): Promise<boolean | undefined> {
  const [place, id, start] = identity.split(' ')
  if (place !== where() || !Number(id)) return undefined
  const status = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
  if (status !== '') return startOf(status) !== start
  // /proc is hidden from this user or missing, or another process has reused the number.
  return isRunning(Number(id)) ? undefined : true
}

/** Describes a process for messages. */
export function describeProcess(identity: string): string {
  const [place = '', id] = identity.split(' ')
  return id === undefined ? 'a process' : `process ${id} on ${place.split('/')[0]}`
}

/**
 * Identifies the machine, its boot and the process namespace. Containers can share a host name without sharing
 * processes.
 */
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

/**
 * Returns the start time of a process from /proc/<id>/stat, in ticks since boot, because numbers are reused. Returns
 * `undefined` for an ended process.
 */
function startOf(status: string): string | undefined {
  // The name can contain anything. The state follows it, then 18 other fields.
  const [state, ...others] = status.slice(status.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? undefined : others[18]
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}
