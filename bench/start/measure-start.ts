import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { median } from '../serve/statistics.ts'

/** The median of the ratios within each round: a slower machine slows both. */
export function ratioOf(times: readonly number[], others: readonly number[]): number {
  return median(times.map((time, round) => time / (others[round] ?? Number.NaN)))
}

/** In milliseconds. */
export interface StartCost {
  /** Of all threads. */
  readonly cpu: number
  /** On the clock. */
  readonly wall: number
}

/** What a process has cost when its listening line has been read. */
export async function measureStart(node: string, parameters: readonly string[]): Promise<StartCost> {
  const began = performance.now()
  const child = spawn(node, parameters, { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    let output = ''
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += String(text)
      if (/http:\/\/\S+\n/.test(output)) {
        const wall = performance.now() - began
        return { cpu: await readCpu(child.pid ?? 0), wall }
      }
    }
    throw new Error(`${parameters.join(' ')} ended before it listened: ${output}${complaints}`)
  } finally {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
}

/** From `schedstat`, whose first field is in nanoseconds: `stat` counts in steps of 10 ms. */
async function readCpu(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')),
  )
  return texts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1e6
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
