import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask } from './ask.mjs'
import { freePort } from './free-port.mjs'

const configurations = fileURLToPath(new URL('../../deploy', import.meta.url))

/**
 * @typedef {object} Proxy
 * @property {string} url Where it listens, without a slash at its end.
 * @property {() => Promise<void>} stop
 */

/**
 * Starts nginx with a configuration of deploy/nginx in front of a server, with the addresses and folders of this
 * check, and inside a configuration that compresses as Debian's does.
 *
 * @param {{ program: string, configuration: string, origin: string, directory: string }} place
 * @returns {Promise<Proxy>}
 */
export async function startNginx({ program, configuration, origin, directory }) {
  await mkdir(directory)
  const [plain, secure] = [await freePort(), await freePort()]
  const text = await readFile(join(configurations, 'nginx', configuration), 'utf8')
  const isSecure = text.includes('listen 443')
  if (isSecure) makeCertificate(directory)
  const adapted = text
    .replaceAll('127.0.0.1:4173', origin.replace('http://', ''))
    .replaceAll('listen 80;', `listen 127.0.0.1:${plain};`)
    .replaceAll('listen 443 ', `listen 127.0.0.1:${secure} `)
    .replaceAll('/etc/ssl/', `${directory}/`)
    .replaceAll('/var/cache/nginx/', `${directory}/`)
  await writeFile(join(directory, 'site.conf'), adapted)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await writeFile(
    join(directory, 'nginx.conf'),
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
  const url = isSecure ? `https://127.0.0.1:${secure}` : `http://127.0.0.1:${plain}`
  return await start([program, '-p', directory, '-e', 'stderr', '-c', join(directory, 'nginx.conf')], { url })
}

/**
 * Starts Caddy with deploy/caddy/Caddyfile in front of a server, without TLS: certificates take a name that others
 * can reach.
 *
 * @param {{ program: string, origin: string, directory: string }} place
 * @returns {Promise<Proxy>}
 */
export async function startCaddy({ program, origin, directory }) {
  await mkdir(directory)
  const url = `http://127.0.0.1:${await freePort()}`
  const text = await readFile(join(configurations, 'caddy/Caddyfile'), 'utf8')
  const adapted = text
    .replaceAll('127.0.0.1:4173', origin.replace('http://', ''))
    .replace(/^example\.com /m, `${url} `)
  await writeFile(join(directory, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${adapted}`)
  const environment = { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory }
  const command = [program, 'run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')]
  return await start(command, { url, environment })
}

/**
 * @param {readonly string[]} command
 * @param {{ url: string, environment?: Record<string, string> }} place
 * @returns {Promise<Proxy>}
 */
async function start([file = '', ...args], { url, environment = {} }) {
  const child = spawn(file, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  }
  const ended = once(child, 'exit')
  const deadline = Date.now() + 20_000
  while (!(await answers(url))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (hasEnded || Date.now() > deadline) throw new Error(`${file} does not listen on ${url}:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    process.removeListener('exit', kill)
  }
  return { url, stop }
}

/** @param {string} url */
async function answers(url) {
  return await ask(`${url}/`).then(
    () => true,
    () => false,
  )
}

/** @param {string} directory */
function makeCertificate(directory) {
  const files = ['-keyout', join(directory, 'example.com.key'), '-out', join(directory, 'example.com.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...files, '-subj', '/CN=example.com'], { stdio: 'ignore' })
}
