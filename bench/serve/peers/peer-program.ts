import { fileURLToPath } from 'node:url'
import type { LaunchInput } from './server-definition.ts'

/** The compiled program of a peer under `peers/`. */
export function peerProgram(name: string): string {
  return fileURLToPath(new URL(`programs/${name}.js`, import.meta.url))
}

/** What `peers/peer-input.ts` reads. */
export function peerEnvironment({ directory, port, workers, accept }: LaunchInput): Record<string, string> {
  return {
    BENCH_DIRECTORY: directory,
    BENCH_PORT: String(port),
    BENCH_WORKERS: String(workers),
    BENCH_ACCEPT: accept.join(','),
  }
}
