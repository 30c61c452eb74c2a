import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { npmCommand } from '../../../scripts/npm-command.mjs'
import { runCommand } from '../../../scripts/run-command.mjs'

/**
 * The latest frameworks require newer Node versions: Astro 7 requires 22.12, React Router 8 22.22, and Nuxt 4
 * 24.11.
 */
const needed = 24
const cache = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url))

/**
 * Returns the path of the Node that builds and serves the examples: this process's, or one from the registry.
 */
export async function findNode(): Promise<string> {
  if (Number.parseInt(process.versions.node, 10) >= needed) return process.execPath
  // The packages that the install script of `node` selects by platform.
  const system = process.platform === 'win32' ? 'win' : process.platform
  const name = `node-${system}-${process.arch}`
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'
  const node = path.join(cache, 'node_modules', name, file)
  if (existsSync(node)) return node
  await mkdir(cache, { recursive: true })
  const command = npmCommand('install', '--no-save', '--prefix', cache, `${name}@^${needed}.11.0`)
  const { exitCode, output } = await runCommand(command, { cwd: cache, isQuiet: true, timeLimit: 120_000 })
  if (exitCode !== 0)
    throw new Error(`Node ${needed} cannot be installed, run the tests with one:\n${output}`)
  return node
}
