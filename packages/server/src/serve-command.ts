import type { ServingRules } from '@serve-dist/manifest'
import { formatBytes } from './format-bytes.ts'
import { keepRunning } from './mount-application.ts'
import { readConfig } from './read-config.ts'
import { type RunningServer, serve } from './serve.ts'
import { reportApplicationError } from './start-application.ts'

/** What the command line gave. */
export interface ServeFlags {
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
  const { port, host, verify, memoryBudget, largestBody, openFiles } = flags
  const rules = withFlags(await readConfig(process.cwd(), flags.config), flags)
  // An application's error that nobody caught must not take the static files down with it.
  if (flags.ssr !== undefined) keepRunning(reportApplicationError)
  const server = await serve({
    directory,
    port,
    host,
    site: { verify, memoryBudget, largestBody, rules, ...(openFiles !== undefined && { openFiles }) },
    handler: { fileSystemFallback: flags.fsFallback ?? false },
    ...(flags.ssr !== undefined && { ssr: flags.ssr }),
  })
  // Before the line: who reads it may send a signal at once.
  stopOnSignal(server)
  process.stdout.write(`${listeningLine(server, version)}\n`)
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

function listeningLine({ site, url }: RunningServer, version: string): string {
  const { files, variants, bytesInMemory } = site.summary
  return `serve-dist ${version} · ${count(files, 'file')}, ${count(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory · ${url}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function stopOnSignal(server: RunningServer): void {
  const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
  const stop = (): void => {
    for (const signal of signals) {
      process.removeListener(signal, stop)
      process.once(signal, () => process.exit(1))
    }
    void server.close()
  }
  for (const signal of signals) process.once(signal, stop)
}
