import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type PeerServer, startPeerServer } from '../../../../e2e/src/start-peer-server.ts'
import { blocksOf } from '../../../../scripts/document-blocks.mjs'
import { freePort } from './free-port.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Starts nginx with the lines of docs/export.md, in a configuration with Debian's compression settings. */
export async function startNginx(program: string, folder: string): Promise<PeerServer> {
  const [own, port] = [await temporaryDirectory(), await freePort()]
  const types = resolve(program, '../../../etc/nginx/mime.types')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await writeFile(
    join(own, 'nginx.conf'),
    [
      `daemon off; pid ${own}/nginx.pid; error_log stderr warn;`,
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'worker_processes 1;',
      'events {}',
      'http {',
      '  access_log off; gzip on; gzip_types *;',
      ...(existsSync(types) ? [`  include ${types};`] : []),
      ...temporary.map((name) => `  ${name}_temp_path ${own}/${name};`),
      await documentedServer(folder, port),
      '}',
    ].join('\n'),
  )
  return await startPeerServer(
    [program, '-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')],
    new URL(`http://127.0.0.1:${port}`),
  )
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
