import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { peerEnvironment, peerProgram } from './peer-program.ts'
import type { ServerDefinition } from './server-definition.ts'

/** A server that is a program of ours for Node, under `peers/`. */
export interface NodePeer {
  readonly name: string
  /** The package whose version is shown; without one, Node's own. */
  readonly packageName?: string
}

/** Makes the definition; several workers are processes of `node:cluster`. */
export function nodePeer({ name, packageName }: NodePeer): ServerDefinition {
  return {
    name,
    async find() {
      const version =
        packageName === undefined ? process.versions.node : await readPackageVersion(packageName)
      return {
        version,
        launch: async (input) => ({
          command: process.execPath,
          arguments: input.workers > 1 ? [peerProgram('cluster'), peerProgram(name)] : [peerProgram(name)],
          environment: peerEnvironment(input),
        }),
      }
    },
  }
}

/** Not every package lets its `package.json` be resolved: so the folders are gone through. */
async function readPackageVersion(packageName: string): Promise<string> {
  const folders = createRequire(import.meta.url).resolve.paths(packageName) ?? []
  for (const folder of folders) {
    const text = await readFile(join(folder, packageName, 'package.json'), 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const { version }: { version: string } = JSON.parse(text)
    return version
  }
  throw new Error(`"${packageName}" is not installed under ${dirname(import.meta.url)}`)
}
