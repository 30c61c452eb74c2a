import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

/** The command, running in a process of its own. */
export interface RunningCommand {
  readonly child: ChildProcess
  /** The line that it prints when it listens; an error when it ends before. */
  readonly listening: Promise<ListeningLine>
  readonly exited: Promise<ExitedCommand>
  /** What it has said so far on standard error. */
  readonly complaints: () => string
}

/** What the listening line tells. */
interface ListeningLine {
  readonly line: string
  readonly url: string
  readonly port: number
}

/** How the command ended, and all that it said. */
interface ExitedCommand {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface SpawnCommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The program of another Node than the one that runs the tests. */
  readonly node?: string
  /** Options of Node itself. */
  readonly nodeOptions?: readonly string[]
  /** A listening socket that is handed over as systemd does it. */
  readonly inherited?: number
  /** How many files it may open. */
  readonly descriptors?: number
  /** What limits it: a control group's file that takes the ids of processes. */
  readonly group?: string
  /** The cores that it may use, as taskset takes them. */
  readonly cores?: string
  /** The id of the user, and of the group, that it runs as; only root may say so. */
  readonly user?: number
}

/** The shell knows its process id, which stays the command's own (sd_listen_fds(3)). */
const asActivated = ['/bin/sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh']

/** A machine may allow too few for the native engine: only tests that limit them themselves see this. */
const aboutDescriptors = /^serve-dist: warning: this process can open \d+ files, .*\n/m

const running = new Set<ChildProcess>()

afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts the command `serve-dist` as it was built. */
export function spawnCommand(args: readonly string[], options: SpawnCommandOptions = {}): RunningCommand {
  const { cwd, env, node = process.execPath, nodeOptions = [], descriptors, group, cores, user } = options
  const { PORT: _port, HOST: _host, ...inherited } = process.env
  const limited =
    descriptors === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const grouped = group === undefined ? [] : ['/bin/sh', '-c', `echo $$ > ${group}; exec "$@"`, 'sh']
  const pinned = cores === undefined ? [] : ['taskset', '--cpu-list', cores]
  const command = [...grouped, ...limited, ...pinned, node, ...nodeOptions, bin, ...args]
  const [program = '', ...rest] = options.inherited === undefined ? command : [...asActivated, ...command]
  const stdio: readonly ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe']
  const child = spawn(program, rest, {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    ...(user !== undefined && { uid: user, gid: user }),
    stdio: options.inherited === undefined ? [...stdio] : [...stdio, options.inherited],
  })
  const { stdout: output, stderr: errors } = child
  if (output === null || errors === null) throw new TypeError('started without pipes')
  running.add(child)
  let stdout = ''
  let stderr = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    child.emit('said')
  })
  errors.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const complaints = (): string => (descriptors === undefined ? stderr.replace(aboutDescriptors, '') : stderr)
  const exited = once(child, 'close').then(() => {
    running.delete(child)
    child.emit('said')
    return { code: child.exitCode, stdout, stderr: complaints() }
  })
  const listening = waitForLine()
  // A test that looks for the end alone does not wait for this.
  listening.catch(() => {})
  return { child, listening, exited, complaints }

  async function waitForLine(): Promise<ListeningLine> {
    for (;;) {
      const match = /^.* (https?:\/\/\S+)$/m.exec(stdout)
      if (match?.[1] !== undefined) {
        return { line: match[0], url: match[1], port: Number(new URL(match[1]).port) }
      }
      if (child.exitCode !== null) throw new Error(`ended before it listened: ${stderr}`)
      await once(child, 'said')
    }
  }
}
