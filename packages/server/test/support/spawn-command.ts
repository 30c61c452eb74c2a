import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { killAtEnd } from './kill-at-end.ts'

const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

/** The command in a process of its own. */
export interface RunningCommand {
  readonly child: ChildProcess
  /** The start line. Rejects if the command ends before it listens. */
  readonly listening: Promise<ListeningLine>
  readonly exited: Promise<ExitedCommand>
  /** Returns the output on standard error up to now. */
  readonly complaints: () => string
}

/** The facts of the start line. */
interface ListeningLine {
  readonly line: string
  readonly url: string
  readonly port: number
}

/** The exit code or signal of the command, and all its output. */
interface ExitedCommand {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface SpawnCommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The path of another Node than that of the tests. */
  readonly node?: string
  /** Options of Node. */
  readonly nodeOptions?: readonly string[]
  /** The descriptor of a listening socket, which is passed as systemd does. */
  readonly inherited?: number
  /** The limit of open descriptors. */
  readonly descriptors?: number
  /** The file of a control group that takes process IDs, to limit resources. */
  readonly group?: string
  /** The cores that the command may use, in the format of taskset. */
  readonly cores?: string
  /** The ID of the user and the group. Only root may change them. */
  readonly user?: number
}

/** Starts a shell because LISTEN_PID must be the process ID, which `exec` keeps (sd_listen_fds(3)). */
const shellWithListenPid = ['/bin/sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh']

/** The warning of a low limit of descriptors. Only tests that set a limit keep it. */
const descriptorWarning = /^serve-dist: warning: this process can open \d+ files, .*\n/m

/** Starts the built command `serve-dist`. */
export function spawnCommand(args: readonly string[], options: SpawnCommandOptions = {}): RunningCommand {
  const { cwd, env, node = process.execPath, nodeOptions = [], descriptors, group, cores, user } = options
  const { PORT: _port, HOST: _host, ...inherited } = process.env
  const limited =
    descriptors === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const grouped = group === undefined ? [] : ['/bin/sh', '-c', `echo $$ > ${group}; exec "$@"`, 'sh']
  const pinned = cores === undefined ? [] : ['taskset', '--cpu-list', cores]
  const command = [...grouped, ...limited, ...pinned, node, ...nodeOptions, bin, ...args]
  const [program = '', ...rest] =
    options.inherited === undefined ? command : [...shellWithListenPid, ...command]
  const stdio: readonly ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe']
  const child = spawn(program, rest, {
    cwd,
    env: { ...inherited, NO_COLOR: '1', ...env },
    ...(user !== undefined && { uid: user, gid: user }),
    stdio: options.inherited === undefined ? [...stdio] : [...stdio, options.inherited],
  })
  const { stdout: output, stderr: errors } = child
  if (output === null || errors === null) throw new TypeError('started without pipes')
  killAtEnd(child)
  let stdout = ''
  let stderr = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    child.emit('said')
  })
  errors.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const complaints = (): string =>
    descriptors === undefined ? stderr.replace(descriptorWarning, '') : stderr
  const exited = once(child, 'close').then(() => {
    child.emit('said')
    return { code: child.exitCode, stdout, stderr: complaints() }
  })
  const listening = waitForLine()
  // Prevents an unhandled rejection in tests that await only the exit.
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
