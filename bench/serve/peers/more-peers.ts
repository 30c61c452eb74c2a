import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'
import { runProcess } from '../run-process.ts'

/** Where the peers stand that are too large for everybody's install. */
export const morePeersDirectory: string = join(benchDirectory, 'more-peers')

/** What to do where they are not. */
export const installMorePeers = 'npm install --prefix bench/more-peers, to have it'

const oldestNode = 22

/**
 * Looks for a framework among them.
 *
 * @returns its version, or as `missing` what is in the way.
 */
export async function findFramework(name: string): Promise<{ version: string } | { missing: string }> {
  if (Number.parseInt(process.versions.node, 10) < oldestNode) {
    return { missing: `needs Node ${oldestNode}, the harness runs on ${process.versions.node}` }
  }
  const path = join(morePeersDirectory, 'node_modules', name, 'package.json')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return { missing: installMorePeers }
  const { version }: { version: string } = JSON.parse(text)
  return { version }
}

/** Builds one of the applications there. */
export async function buildApplication(
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const vite = join(morePeersDirectory, 'node_modules/vite/bin/vite.js')
  await runProcess(process.execPath, [vite, 'build'], {
    cwd: join(morePeersDirectory, name),
    env: { ...process.env, ...environment },
  })
}
