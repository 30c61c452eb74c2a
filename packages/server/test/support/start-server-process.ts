import { spawn } from 'node:child_process'
import { killAtEnd } from './kill-at-end.ts'

/** Starts a program until the end of the test file. The program's first output line must be its port. */
export function startServerProcess(program: string, args: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  killAtEnd(child)
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
      reject(new Error(`${program} ended with ${code} before it listened: ${said}${complaints}`))
    })
  })
}
