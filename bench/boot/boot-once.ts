import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** What it took from the start of a process to its first answer. */
export interface Boot {
  readonly wallMilliseconds: number
  /** User and system time of all its threads. */
  readonly cpuMilliseconds: number
  readonly residentBytes: number
  readonly peakBytes: number
}

/** Runs a program that says where it listens, asks it once, and stops it. */
export async function bootOnce(node: string, parameters: readonly string[]): Promise<Boot> {
  const begun = performance.now()
  const child = spawn(node, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const response = await fetch(await readUrl(child.stdout.setEncoding('utf8')))
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`the first answer is ${response.status}`)
    const wallMilliseconds = performance.now() - begun
    return { wallMilliseconds, ...(await readUsage(child.pid ?? 0)) }
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}

async function readUrl(output: AsyncIterable<string>): Promise<string> {
  let said = ''
  for await (const text of output) {
    said += text
    const url = /(http:\/\/\S+)\n/.exec(said)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`it ended before it listened: ${said}`)
}

/** `USER_HZ` is 100 on every Linux that Node runs on: the processor's time is counted in 10 ms. */
async function readUsage(pid: number): Promise<Omit<Boot, 'wallMilliseconds'>> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ])
  // proc(5): the name, in parentheses, may hold spaces; after it, utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const bytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return {
    cpuMilliseconds: (Number(fields[11]) + Number(fields[12])) * 10,
    residentBytes: bytes('VmRSS'),
    peakBytes: bytes('VmHWM'),
  }
}
