import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from './open-connection.ts'
import { openConnection } from './open-connection.ts'
import { spawnCommand } from './spawn-command.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/**
 * Counts the file-system calls of the command from start to stop. Node's trace events include each API:
 * synchronous, callbacks and promises.
 *
 * @param exchange - acts as the client
 */
export async function countFileSystemCalls(
  args: readonly string[],
  exchange: (connection: Connection) => Promise<void>,
): Promise<number> {
  const trace = join(await temporaryDirectory(), 'trace.json')
  const { child, exited, listening } = spawnCommand([...args, '--port', '0'], {
    nodeOptions: [
      '--trace-event-categories=node.fs.sync,node.fs.async',
      `--trace-event-file-pattern=${trace}`,
    ],
  })
  const { port } = await listening
  const connection = await openConnection(port)
  await exchange(connection)
  connection.socket.destroy()
  child.kill('SIGTERM')
  await exited
  const { traceEvents }: { traceEvents: readonly TraceEvent[] } = JSON.parse(await readFile(trace, 'utf8'))
  return traceEvents.filter(({ cat, ph }) => cat.startsWith('node,node.fs') && begins.has(ph)).length
}

interface TraceEvent {
  readonly cat: string
  /** The phase: `B` and `b` start a synchronous or an asynchronous call. */
  readonly ph: string
}

const begins: ReadonlySet<string> = new Set(['B', 'b'])
