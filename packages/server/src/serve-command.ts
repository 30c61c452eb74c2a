import { rmSync } from 'node:fs'
import type { ServingRules } from '@serve-dist/manifest'
import type { ProcessFlags } from './add-process-options.ts'
import { type TlsFlags, tlsOptionsOf } from './add-tls-options.ts'
import { listeningLine } from './listening-line.ts'
import { keepRunning } from './mount-application.ts'
import { readConfig } from './read-config.ts'
import { serve } from './serve.ts'
import { reportApplicationError } from './start-application.ts'
import { stopOnSignal } from './stop-on-signal.ts'
import { takeInheritedSocket } from './take-inherited-socket.ts'

/** What the command line gave. */
export interface ServeFlags extends ProcessFlags, TlsFlags {
  readonly port: number
  readonly host: string
  readonly verify: 'size' | 'hash'
  readonly memoryBudget: number
  readonly largestBody: number
  readonly openFiles?: number
  readonly prefer?: 'order' | 'smallest'
  readonly fallback?: 'spa' | '404' | 'none'
  readonly immutable?: readonly string[]
  readonly fsFallback?: boolean
  readonly config?: string
  readonly ssr?: string
}

/** Serves until a signal: the first lets answers in flight finish, a second ends at once. */
export async function serveCommand(directory: string, flags: ServeFlags, version: string): Promise<void> {
  const { port, host, grace, socket, socketMode, verify, memoryBudget, largestBody, openFiles } = flags
  const stopWith = stopOnSignal()
  const descriptor = takeInheritedSocket()
  const rules = withFlags(await readConfig(process.cwd(), flags.config), flags)
  // An application's error that nobody caught must not take the static files down with it.
  if (flags.ssr !== undefined) keepRunning(reportApplicationError)
  const tls = tlsOptionsOf(flags)
  const server = await serve({
    directory,
    port,
    host,
    socketMode,
    gracePeriod: grace,
    ...(descriptor !== undefined && { descriptor }),
    ...(socket !== undefined && { socket }),
    site: { verify, memoryBudget, largestBody, rules, ...(openFiles !== undefined && { openFiles }) },
    handler: { fileSystemFallback: flags.fsFallback ?? false },
    ...(flags.ssr !== undefined && { ssr: flags.ssr }),
    ...(tls !== undefined && { tls }),
  })
  // Before the line: who reads it may send a signal at once.
  stopWith(() => server.close())
  if (socket !== undefined && descriptor === undefined) removeAtSuddenEnd(socket)
  const { site, url } = server
  process.stdout.write(`${listeningLine({ version, summary: site.summary, url })}\n`)
}

/** A server that is closed removes its socket by itself. */
function removeAtSuddenEnd(socket: string): void {
  process.once('exit', (code) => {
    if (code !== 0) rmSync(socket, { force: true })
  })
}

/** The command line outranks the configuration; globs add up. */
function withFlags(config: ServingRules, { prefer, fallback, immutable = [] }: ServeFlags): ServingRules {
  return {
    ...config,
    ...(prefer !== undefined && { prefer }),
    ...(fallback !== undefined && { fallback }),
    immutable: [...(config.immutable ?? []), ...immutable],
  }
}
