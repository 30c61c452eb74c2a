import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readStartCpu } from '../serve/measure/resource-usage.ts'
import { median } from '../serve/statistics.ts'

/** Costs in milliseconds. */
export interface StartCost {
  /** CPU time of all threads. */
  readonly cpu: number
  readonly wall: number
}

/** Starts commands of Node in turn, round after round. Returns the costs of each command, one for each round. */
export async function measureStarts(
  node: string,
  commands: readonly ((round: number) => readonly string[])[],
  rounds: number,
): Promise<readonly (readonly StartCost[])[]> {
  const costs = commands.map((): StartCost[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, wordsOf] of commands.entries()) {
      costs[index]?.push(await measureStart(node, wordsOf(round)))
    }
  }
  return costs
}

/** Returns the median of the ratios within each round, because a slower machine affects both commands. */
export function ratioOf(times: readonly number[], others: readonly number[]): number {
  return median(times.map((time, round) => time / (others[round] ?? Number.NaN)))
}

/** Measures a process until its listening line. */
async function measureStart(node: string, words: readonly string[]): Promise<StartCost> {
  const began = performance.now()
  const child = spawn(node, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    let output = ''
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += String(text)
      if (/http:\/\/\S+\n/.test(output)) {
        const wall = performance.now() - began
        return { cpu: await readStartCpu(child.pid ?? 0), wall }
      }
    }
    throw new Error(`${words.join(' ')} ended before it listened: ${output}${complaints}`)
  } finally {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
}
