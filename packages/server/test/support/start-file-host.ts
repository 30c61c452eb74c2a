import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type ForeignServer, startForeignServer } from '../../../../e2e/src/start-foreign-server.ts'
import { blocksOf } from '../../../../scripts/document-blocks.mjs'
import { freePort } from './free-port.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** The block of docs/export.md in a language, with the folder and the port of a test. */
async function shownFor(
  language: string,
  folder: string,
  [shown, ours]: readonly [string, string],
): Promise<string> {
  const text = await readFile(new URL('../../../../docs/export.md', import.meta.url), 'utf8')
  const block = blocksOf({ path: 'docs/export.md', text }).find((each) => each.language === language)
  if (!block?.code.includes(shown))
    throw new Error(`docs/export.md has no block of ${language} with ${shown}`)
  return block.code.replace(shown, ours).replaceAll(/\/srv\/site-files([^\s;>]*)/g, `"${folder}$1"`)
}

/** nginx with the lines of docs/export.md, inside a configuration that compresses as Debian's does. */
export async function startNginx(program: string, folder: string): Promise<ForeignServer> {
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
      await shownFor('nginx', folder, ['listen 80;', `listen 127.0.0.1:${port};`]),
      '}',
    ].join('\n'),
  )
  return await startForeignServer(
    [program, '-p', own, '-e', 'stderr', '-c', join(own, 'nginx.conf')],
    urlOf(port),
  )
}

/** Caddy with the lines of docs/export.md. */
export async function startCaddy(program: string, folder: string): Promise<ForeignServer> {
  const [own, port] = [await temporaryDirectory(), await freePort()]
  const site = await shownFor('caddyfile', folder, ['example.com {', `http://:${port} {\n\tbind 127.0.0.1`])
  await writeFile(join(own, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${site}\n`)
  const environment = { HOME: own, XDG_DATA_HOME: own, XDG_CONFIG_HOME: own, SITE: folder }
  const args = ['run', '--adapter', 'caddyfile', '--config', join(own, 'Caddyfile')]
  return await startForeignServer([program, ...args], urlOf(port), environment)
}

/** Apache with the lines of docs/export.md, and compression as Debian has it. */
export async function startApache(program: string, folder: string): Promise<ForeignServer> {
  const [own, port] = [await temporaryDirectory(), await freePort()]
  await mkdir(join(own, 'logs'))
  const modules = [
    'mpm_event',
    'authz_core',
    'dir',
    'mime',
    'headers',
    'rewrite',
    'deflate',
    'filter',
    'env',
    'setenvif',
    'unixd',
  ]
  const beside = resolve(program, '../../lib/apache2/modules')
  const folders = [beside, '/usr/lib64/httpd/modules', '/usr/libexec/apache2']
  const place = folders.find((each) => existsSync(each)) ?? ''
  await writeFile(
    join(own, 'httpd.conf'),
    [
      ...modules
        .filter((name) => existsSync(join(place, `mod_${name}.so`)))
        .map((name) => `LoadModule ${name}_module ${place}/mod_${name}.so`),
      `ServerRoot "${own}"`,
      'ServerName example.org',
      `Listen 127.0.0.1:${port}`,
      'PidFile httpd.pid',
      'ErrorLog "|/bin/cat 1>&2"',
      'LogLevel warn',
      ...(existsSync('/etc/mime.types') ? ['TypesConfig /etc/mime.types'] : []),
      'AddOutputFilterByType DEFLATE text/html text/plain text/javascript application/json',
      'AddLanguage br .br',
      await shownFor('apache', folder, ['', '']),
    ].join('\n'),
  )
  return await startForeignServer([program, '-f', join(own, 'httpd.conf'), '-D', 'FOREGROUND'], urlOf(port))
}

function urlOf(port: number): URL {
  return new URL(`http://127.0.0.1:${port}`)
}
