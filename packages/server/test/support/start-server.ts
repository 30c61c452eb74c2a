import { afterAll } from 'vitest'
import { type RunningServer, serve } from '../../src/serve/serve.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { testedEngine } from './tested-engine.ts'

/** A server and its port. */
export interface StartedServer extends RunningServer {
  readonly port: number
}

const running: RunningServer[] = []

afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

/** Serves a folder, or the source in the options, on a free port until the end of the test file. */
export async function startServer(
  directory: string | undefined,
  options: Omit<ServeOptions, 'directory' | 'port'> = {},
): Promise<StartedServer> {
  const place = directory === undefined ? {} : { directory }
  const server = await serve({ ...place, port: 0, gracePeriod: 1000, engine: testedEngine, ...options })
  running.push(server)
  // Not a copy, because the server's properties change at a swap.
  return Object.assign(server, { port: Number(new URL(server.url).port) })
}
