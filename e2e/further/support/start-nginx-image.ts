import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort } from '../../../packages/server/test/support/free-port.ts'
import { type PeerServer, startPeerServer } from '../../src/start-peer-server.ts'
import type { ContainerImage } from './container-image.ts'

/** Starts nginx as its image on Docker Hub does, with the files that a Dockerfile copied into the image. */
export async function startNginxImage(
  program: string,
  { root }: Pick<ContainerImage, 'root'>,
): Promise<PeerServer> {
  const port = await freePort()
  const own = path.join(root, 'run')
  await mkdir(own)
  const folder = path.join(root, 'etc/nginx/conf.d')
  const sites = (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const file = path.join(own, 'nginx.conf')
  await writeFile(
    file,
    [
      `daemon off; master_process off; pid ${own}/nginx.pid; error_log stderr warn;`,
      'events {}',
      'http {',
      `  include ${path.resolve(program, '../../../etc/nginx/mime.types')};`,
      '  default_type application/octet-stream; sendfile on; access_log off;',
      ...temporary.map((name) => `  ${name}_temp_path ${own}/${name};`),
      ...(await Promise.all(sites)),
      '}',
    ]
      .join('\n')
      .replaceAll('listen 80;', `listen 127.0.0.1:${port};`)
      .replaceAll('/usr/share/nginx/html', `${root}/usr/share/nginx/html`),
  )
  return await startPeerServer(
    [program, '-p', own, '-e', 'stderr', '-c', file],
    new URL(`http://127.0.0.1:${port}`),
  )
}
