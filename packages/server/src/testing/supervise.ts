import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { openListeningSocket } from './open-listening-socket.ts'

const bin = fileURLToPath(new URL('../../bin/serve-dist.js', import.meta.url))

/** Starts instances of the command that share one listening socket, as a service manager does. */
export interface Supervisor {
  readonly port: number
  /** Answers the process id of an instance, once it listens. */
  start(): Promise<number>
  /** Ends an instance with SIGTERM, and answers its exit code. */
  stop(processId: number): Promise<number>
}

/** The socket stays open in the shell, which takes no connections: they wait for whoever does. */
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

/** Opens a socket and supervises instances that serve from it; all have to be stopped at the end. */
export async function supervise(args: readonly string[]): Promise<Supervisor> {
  const socket = await openListeningSocket()
  const shell = spawn('/bin/sh', ['-c', script, 'sh', process.execPath, bin, ...args], {
    stdio: ['pipe', 'pipe', 'inherit', socket.descriptor],
  })
  socket.close()
  supervisors.push(shell)
  const { stdin, stdout } = shell
  if (stdin === null || stdout === null) throw new TypeError('started without pipes')
  const lines = createInterface({ input: stdout })
  const nextLine = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const [line]: unknown[] = await once(lines, 'line')
      const match = pattern.exec(String(line))
      if (match !== null) return match[1] ?? ''
    }
  }
  return {
    port: socket.port,
    async start() {
      const begun = Promise.all([nextLine(/^started (\d+)$/), nextLine(/^serve-dist .* (http:\S+)$/)])
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
