import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { vi } from 'vitest'
import { librariesOf } from '../../scripts/find-program.mjs'
import { sendRequest } from './send-request.ts'

/** A server other than serve-dist. */
export interface PeerServer {
  readonly url: URL
  readonly port: number
  /** Reloads the configuration. */
  reload(): void
  stop(): Promise<void>
}

/** Starts a program, and waits until it answers at the URL. */
export async function startPeerServer(
  [program, ...args]: readonly [string, ...string[]],
  url: URL,
  environment: Readonly<Record<string, string>> = {},
): Promise<PeerServer> {
  const child = spawn(program, args, {
    env: { ...process.env, LD_LIBRARY_PATH: librariesOf(program), ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const ended = once(child, 'exit')
  const isAnswering = () =>
    sendRequest(url).then(
      () => true,
      () => child.exitCode !== null,
    )
  await vi.waitUntil(isAnswering, 60_000)
  if (child.exitCode !== null) throw new Error(`${program} ended:\n${errors}`)
  return {
    url,
    port: Number(url.port),
    reload: () => child.kill('SIGHUP'),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
