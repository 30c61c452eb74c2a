import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll } from 'vitest'

const running = new Set<ChildProcess>()

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program until the end of the test file. The program's first output line must be its port. */
export function startServerProcess(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  let said = ''
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const port = /^(\d+)\n/.exec(said)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('error', reject)
    child.once('close', (code) => {
      running.delete(child)
      reject(new Error(`${program} ended with ${code} before it listened: ${said}${complaints}`))
    })
  })
}
