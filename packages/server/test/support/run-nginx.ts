import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type PeerServer, startPeerServer } from '../../../../e2e/src/start-peer-server.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Starts nginx with the lines of an `http` block, which listens on a port of 127.0.0.1. */
export async function runNginx(program: string, port: number, lines: string): Promise<PeerServer> {
  const own = await temporaryDirectory()
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
      '  access_log off;',
      ...(existsSync(types) ? [`  include ${types};`] : []),
      ...temporary.map((name) => `  ${name}_temp_path ${own}/${name};`),
      lines,
      '}',
    ].join('\n'),
  )
  return await startPeerServer(
    [program, '-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')],
    new URL(`http://127.0.0.1:${port}`),
  )
}
