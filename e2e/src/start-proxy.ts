import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import { runCommand } from '../../scripts/run-command.mjs'
import { type PeerServer, startPeerServer } from './start-peer-server.ts'

const configurations = fileURLToPath(new URL('../../deploy', import.meta.url))

/** A proxy in front of serve-dist. */
export type Proxy = PeerServer

export interface ProxyOptions {
  readonly program: string
  /** The upstream server. */
  readonly origin: URL
  /** An empty folder for its files. */
  readonly directory: string
}

/**
 * Starts nginx with a configuration of deploy/nginx, with the addresses and folders of this test and Debian's
 * compression settings.
 */
export async function startNginx(configuration: string, options: ProxyOptions): Promise<Proxy> {
  const text = await readFile(path.join(configurations, 'nginx', configuration), 'utf8')
  return await startNginxWith(text, options)
}

/** Starts nginx with the text of such a configuration. */
export async function startNginxWith(text: string, options: ProxyOptions): Promise<Proxy> {
  const { program, directory } = options
  const { file, url } = await writeNginxConfiguration(text, options)
  return await startPeerServer([program, '-p', directory, '-e', 'stderr', '-c', file], url)
}

/** Returns the output of `nginx -t` for a configuration of deploy/nginx. */
export async function testNginxConfiguration(
  configuration: string,
  options: ProxyOptions,
): Promise<{ exitCode: number; output: string }> {
  const text = await readFile(path.join(configurations, 'nginx', configuration), 'utf8')
  const { file } = await writeNginxConfiguration(text, options)
  const { program, directory } = options
  return await runCommand([program, '-t', '-p', directory, '-e', 'stderr', '-c', file], { isQuiet: true })
}

async function writeNginxConfiguration(
  text: string,
  { origin, directory }: ProxyOptions,
): Promise<{ file: string; url: URL }> {
  const [plain, secure] = [await freePort(), await freePort()]
  const isSecure = text.includes('listen 443')
  if (isSecure) await makeCertificate(directory)
  const adapted = text
    .replaceAll('127.0.0.1:4173', origin.host)
    .replaceAll('listen 80;', `listen 127.0.0.1:${plain};`)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${secure} `)
    .replaceAll('/etc/ssl/', `${directory}/`)
    .replaceAll('/var/cache/nginx/', `${directory}/`)
  await writeFile(path.join(directory, 'site.conf'), adapted)
  const file = path.join(directory, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await writeFile(
    file,
    [
      `daemon off; master_process off; pid ${directory}/nginx.pid; error_log stderr warn;`,
      'events {}',
      'http {',
      '  access_log off; gzip on; gzip_types *;',
      ...temporary.map((name) => `  ${name}_temp_path ${directory}/${name};`),
      `  include ${directory}/site.conf;`,
      '}',
    ].join('\n'),
  )
  return { file, url: new URL(isSecure ? `https://127.0.0.1:${secure}` : `http://127.0.0.1:${plain}`) }
}

/**
 * Starts Caddy with deploy/caddy/Caddyfile, without TLS because certificates require a public name.
 *
 * @param change - adds a fault to the configuration
 */
export async function startCaddy(
  { program, origin, directory }: ProxyOptions,
  change: (text: string) => string = (text) => text,
): Promise<Proxy> {
  const url = new URL(`http://127.0.0.1:${await freePort()}`)
  const text = await readFile(path.join(configurations, 'caddy/Caddyfile'), 'utf8')
  const adapted = change(text)
    .replaceAll('127.0.0.1:4173', origin.host)
    .replace(/^example\.com /m, `${url.origin} `)
  const file = path.join(directory, 'Caddyfile')
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${adapted}`)
  const environment = { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  return await startPeerServer([program, 'run', '--adapter', 'caddyfile', '--config', file], url, environment)
}

/**
 * Starts Varnish, a cache that stores responses according to their `Cache-Control`.
 *
 * @param rules - lines of VCL after its backend
 * @param parameters - values of `-p`
 */
export async function startVarnish(
  { program, origin, directory }: ProxyOptions,
  rules: string,
  parameters: readonly string[],
): Promise<Proxy> {
  const url = new URL(`http://127.0.0.1:${await freePort()}`)
  const file = path.join(directory, 'site.vcl')
  const backend = `backend site { .host = "${origin.hostname}"; .port = "${origin.port}"; }`
  await writeFile(file, ['vcl 4.1;', backend, rules, ''].join('\n'))
  const place = ['-F', '-j', 'none', '-n', path.join(directory, 'varnish'), '-s', 'malloc,16m']
  const asked = parameters.flatMap((parameter) => ['-p', parameter])
  return await startPeerServer([program, ...place, '-a', url.host, '-f', file, ...asked], url)
}

async function makeCertificate(directory: string): Promise<void> {
  const files = ['-keyout', `${directory}/example.com.key`, '-out', `${directory}/example.com.pem`]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const command = ['openssl', 'req', ...kind, ...files, '-subj', '/CN=example.com'] as const
  const { exitCode, output } = await runCommand(command, { isQuiet: true })
  if (exitCode !== 0) throw new Error(`openssl made no certificate:\n${output}`)
}
