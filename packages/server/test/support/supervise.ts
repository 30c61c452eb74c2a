import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { openListeningSocket } from './open-listening-socket.ts'

const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

/** Starts instances of the command that share one listening socket, like a service manager. */
export interface Supervisor {
  readonly port: number
  /** Starts an instance. Returns its process ID when it listens. */
  start(): Promise<number>
  /** Stops an instance with SIGTERM. Returns its exit code. */
  stop(processId: number): Promise<number>
}

/** The shell keeps the socket open without accepting connections. They wait for the next instance. */
const script = `while read -r verb id; do
  case $verb in
    start) sh -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"' sh "$@" & echo "started $!" ;;
    stop) kill -TERM "$id"; wait "$id"; echo "ended $?" ;;
  esac
done`

const supervisors: ChildProcess[] = []
afterAll(async () => {
  for (const shell of supervisors.splice(0)) {
    shell.stdin?.end()
    if (shell.exitCode === null) await once(shell, 'close')
  }
})

/** Opens a socket, and supervises instances that serve from it. The caller must stop all of them. */
export async function supervise(args: readonly string[]): Promise<Supervisor> {
  const socket = await openListeningSocket()
  const shell = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, bin, ...args], {
    stdio: ['pipe', 'pipe', 'inherit', socket.descriptor],
  })
  socket.close()
  supervisors.push(shell)
  const { stdin, stdout } = shell
  if (stdin === null || stdout === null) throw new TypeError('started without pipes')
  /** Unread lines. Several arrive at once if this process was busy. */
  const unreadLines: string[] = []
  createInterface({ input: stdout }).on('line', (line) => {
    unreadLines.push(line)
    shell.emit('said')
  })
  shell.once('close', () => shell.emit('said'))
  const nextLine = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const index = unreadLines.findIndex((line) => pattern.test(line))
      const [line] = index === -1 ? [] : unreadLines.splice(index, 1)
      if (line !== undefined) return pattern.exec(line)?.[1] ?? ''
      if (shell.exitCode !== null) throw new Error(`the shell ended before it said ${pattern}`)
      await once(shell, 'said')
    }
  }
  return {
    port: socket.port,
    async start() {
      const begun = Promise.all([nextLine(/^started (\d+)$/), nextLine(/^serve-dist .* (https?:\S+)$/)])
      stdin.write('start\n')
      const [processId] = await begun
      return Number(processId)
    },
    async stop(processId) {
      const ended = nextLine(/^ended (\d+)$/)
      stdin.write(`stop ${processId}\n`)
      return Number(await ended)
    },
  }
}
