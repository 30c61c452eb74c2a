import { spawn } from 'node:child_process'

/** A program of an example, running in a process of its own. */
export interface RunningProgram {
  readonly url: URL
  stop(): Promise<void>
}

/** Starts a program that prints its URL when it listens. */
export async function startProgram(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<RunningProgram> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('close', () => resolve())
  })
  const url = await new Promise<URL>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const match = /\bhttp:\/\/\S+$/m.exec(text)
      if (match !== null) resolve(new URL(match[0]))
    })
    void ended.then(() => reject(new Error(`${program} ended before it listened`)))
  })
  return {
    url,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
