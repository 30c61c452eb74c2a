import { spawn } from 'node:child_process'

export interface StartCommandOptions {
  /** Arguments after the command: `['dist', '--port', '0']`. */
  readonly args: readonly string[]
  readonly cwd: string
  /** Variables beside those of the test runner. */
  readonly environment?: Readonly<Record<string, string>>
}

/** How a command ended. */
export interface CommandEnd {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
  readonly output: string
  readonly errors: string
}

export interface RunningCommand {
  /** Where it listens, with the base of the build. */
  readonly url: URL
  readonly pid: number
  /** What it has printed so far. */
  output(): CommandEnd
  isAlive(): boolean
  /** Asks it to stop with SIGTERM and waits until it has. */
  stop(): Promise<CommandEnd>
}

const listeningLine = /^serve-dist \d\S* · .+ · (https?:\/\/\S+)$/m

/** Starts a command as a process of its own and waits for the line that names its URL. */
export async function startCommand(
  command: readonly [string, ...string[]],
  options: StartCommandOptions,
): Promise<RunningCommand> {
  const started = spawnCommand(command, options)
  const url = await new Promise<URL>((resolve, reject) => {
    started.child.stdout.on('data', () => {
      const address = listeningLine.exec(started.output().output)?.[1]
      if (address !== undefined) resolve(new URL(address))
    })
    void started.ended.then((end) => reject(new Error(`it ended before it listened: ${JSON.stringify(end)}`)))
  })
  return {
    url,
    pid: started.child.pid ?? 0,
    output: started.output,
    isAlive: () => started.child.exitCode === null && started.child.signalCode === null,
    stop: () => {
      started.child.kill('SIGTERM')
      return started.ended
    },
  }
}

/** Runs a command that is expected to end by itself. */
export function runToEnd(
  command: readonly [string, ...string[]],
  options: StartCommandOptions,
): Promise<CommandEnd> {
  return spawnCommand(command, options).ended
}

function spawnCommand([file, ...first]: readonly [string, ...string[]], options: StartCommandOptions) {
  const child = spawn(file, [...first, ...options.args], {
    cwd: options.cwd,
    // The test runner's NODE_ENV would make development builds.
    env: {
      ...process.env,
      NODE_ENV: undefined,
      NO_COLOR: '1',
      ...options.environment,
      FORCE_COLOR: '0',
      PORT: undefined,
      HOST: undefined,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = new Promise<CommandEnd>((resolve) => {
    child.once('error', (error) => resolve({ exitCode: 127, output, errors: String(error) }))
    child.once('close', (exitCode) => resolve({ exitCode, output, errors }))
  })
  return { child, ended, output: (): CommandEnd => ({ exitCode: child.exitCode, output, errors }) }
}
