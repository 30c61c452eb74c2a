import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { type RunningCommand, spawnCommand } from '../spawn-command.ts'

/** The command, with a look into its process. */
export interface SoakCommand extends RunningCommand {
  readonly port: number
  /** What it holds once its garbage is collected. */
  readonly measure: () => Promise<Holdings>
}

export interface Holdings {
  /** Bytes that JavaScript holds, buffers included. */
  readonly heap: number
  /** Bytes of memory that the process has of the system. */
  readonly rss: number
  readonly sockets: number
  readonly descriptors: number
}

/** Starts the command as it was built, on a free port. */
export async function startSoakCommand(args: readonly string[]): Promise<SoakCommand> {
  const probe = new URL('soak-probe.mjs', import.meta.url).href
  // The young generation would grow up to 16 MiB at its own pace, and hide what else grows.
  const nodeOptions = ['--expose-gc', '--max-semi-space-size=1', '--import', probe]
  const command = spawnCommand([...args, '--port', '0'], { nodeOptions })
  const { line, port } = await command.listening
  if (!line.includes('engine: native')) return { ...command, port, measure: () => measure(command) }
  // Node has only its ends of pairs.
  const measureBoth = async (): Promise<Holdings> => ({
    ...(await measure(command)),
    sockets: await heldConnections(port),
  })
  return { ...command, port, measure: measureBoth }
}

/** Connections to a port of this machine whose server has not closed them; on Linux. */
async function heldConnections(port: number): Promise<number> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/))
  const [established, closeWait] = ['01', '08']
  return rows.filter(
    ([, local = '', , state]) => local.endsWith(ending) && (state === established || state === closeWait),
  ).length
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
