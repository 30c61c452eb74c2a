import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { type RunningCommand, spawnCommand } from '../spawn-command.ts'

/** The command, with measurements of its process. */
export interface SoakCommand extends RunningCommand {
  readonly port: number
  /** Returns the use of memory and descriptors after a garbage collection. */
  readonly measure: () => Promise<Holdings>
}

export interface Holdings {
  /** Bytes of the JavaScript heap, including buffers. */
  readonly heap: number
  /** Bytes of the process's resident memory. */
  readonly rss: number
  readonly sockets: number
  readonly descriptors: number
}

/** Starts the built command on a free port. */
export async function startSoakCommand(args: readonly string[]): Promise<SoakCommand> {
  const probe = new URL('soak-probe.mjs', import.meta.url).href
  // Limit the young generation. It would otherwise grow up to 16 MiB and hide leaks.
  const nodeOptions = ['--expose-gc', '--max-semi-space-size=1', '--import', probe]
  const command = spawnCommand([...args, '--port', '0'], { nodeOptions })
  const { line, port } = await command.listening
  if (!line.includes('engine: native')) return { ...command, port, measure: () => measure(command) }
  // Node lists only its own ends of connections.
  const measureBoth = async (): Promise<Holdings> => ({
    ...(await measure(command)),
    sockets: heldConnections(port),
  })
  return { ...command, port, measure: measureBoth }
}

/** Returns the number of connections to a local port that the server has not closed. Linux only. */
function heldConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const [established, closeWait] = ['01', '08']
  const rows = new RegExp(`${local} \\S+ (?:${established}|${closeWait}) `, 'g')
  // The kernel returns 4 KiB for each read. A busy event loop would need seconds for a thousand of them.
  return readFileSync('/proc/net/tcp', 'utf8').match(rows)?.length ?? 0
}

async function measure({ child }: RunningCommand): Promise<Holdings> {
  const { stdout, pid } = child
  if (stdout === null || pid === undefined) throw new TypeError('the command was not started with pipes')
  child.kill('SIGUSR2')
  let text = ''
  for (;;) {
    const [chunk]: unknown[] = await once(stdout, 'data')
    text += String(chunk)
    const line = /^probe (.*)\n/m.exec(text)?.[1]
    if (line !== undefined) {
      const { heap, rss, sockets }: Omit<Holdings, 'descriptors'> = JSON.parse(line)
      return { heap, rss, sockets, descriptors: (await readdir(`/proc/${pid}/fd`)).length }
    }
  }
}
