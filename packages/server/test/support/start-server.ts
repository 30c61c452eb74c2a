import { afterAll } from 'vitest'
import { type RunningServer, serve } from '../../src/serve/serve.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { testedEngine } from './tested-engine.ts'

/** A server with the port that it has found. */
export interface StartedServer extends RunningServer {
  readonly port: number
}

const running: RunningServer[] = []

afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

/** Serves a folder, or what the options name, on a free port until the test file is done. */
export async function startServer(
  directory: string | undefined,
  options: Omit<ServeOptions, 'directory' | 'port'> = {},
): Promise<StartedServer> {
  const place = directory === undefined ? {} : { directory }
  const server = await serve({ ...place, port: 0, gracePeriod: 1000, engine: testedEngine, ...options })
  running.push(server)
  // Not a copy: what it serves changes.
  return Object.assign(server, { port: Number(new URL(server.url).port) })
}
