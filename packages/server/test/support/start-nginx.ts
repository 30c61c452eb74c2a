import { readFile } from 'node:fs/promises'
import type { PeerServer } from '../../../../e2e/src/start-peer-server.ts'
import { blocksOf } from '../../../../scripts/document-blocks.mjs'
import { freePort } from './free-port.ts'
import { runNginx } from './run-nginx.ts'

/** Starts nginx with the lines of docs/export.md, in a configuration with Debian's compression settings. */
export async function startNginx(program: string, folder: string): Promise<PeerServer> {
  const port = await freePort()
  return await runNginx(program, port, `gzip on; gzip_types *;\n${await documentedServer(folder, port)}`)
}

/** Returns the server block of docs/export.md, with the folder and the port of a test. */
async function documentedServer(folder: string, port: number): Promise<string> {
  const text = await readFile(new URL('../../../../docs/export.md', import.meta.url), 'utf8')
  const block = blocksOf({ path: 'docs/export.md', text }).find(({ language }) => language === 'nginx')
  if (!block?.code.includes('listen 80;')) throw new Error('docs/export.md has no server block for nginx')
  return block.code
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replaceAll(/\/srv\/site-files([^\s;>]*)/g, `"${folder}$1"`)
}
