import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from '../bench-directory.ts'
import type { FoundServer, ServerDefinition } from './server-definition.ts'

/** Our own command, with its defaults. */
export const serveDist: ServerDefinition = command('serve-dist', [])

/** The same where bytes decide between codings. */
export const serveDistSmallest: ServerDefinition = command('serve-dist-smallest', ['--prefer', 'smallest'])

/** The command as it is started with more flags. */
export async function serveDistWith(flags: readonly string[]): Promise<FoundServer> {
  const folder = join(benchDirectory, '../packages/server')
  const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return {
    version,
    launch: async ({ directory, port, workers }) => ({
      command: process.execPath,
      arguments: [
        join(folder, 'bin/serve-dist.js'),
        directory,
        '--port',
        String(port),
        ...flags,
        ...severalOf(workers),
      ],
    }),
  }
}

function command(name: string, flags: readonly string[]): ServerDefinition {
  return { name, find: () => serveDistWith(flags) }
}

function severalOf(workers: number): string[] {
  return workers > 1 ? ['--workers', String(workers)] : []
}
