import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Systems give ports from 32,768 (Linux) or 49,152 to outgoing connections, which could take the port before it is used. */
const [lowest, highest] = [20_000, 32_767] as const

/** Finds a TCP port that no process listens on. `*` stands for all addresses of the machine. */
export async function findFreePort(host: string): Promise<number> {
  for (let attempts = 1; ; attempts += 1) {
    const port = randomInt(lowest, highest + 1)
    const server = createServer().listen({ port, ...(host !== '*' && { host }), exclusive: true })
    try {
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch (error) {
      if (!isInUse(error) || attempts === 100) throw error
    }
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}
