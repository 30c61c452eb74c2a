import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'
import { ask } from './ask.mjs'
import { buildImage } from './build-image.mjs'
import { difference } from './findings.mjs'
import { freePort } from './free-port.mjs'
import { accountWithoutRights } from './run-as.mjs'
import { startServer } from './start-server.mjs'

/** @import { Findings } from './findings.mjs' */
/** @import { Stage } from './build-image.mjs' */
/** @import { StandAloneCopy } from './stand-alone-copy.mjs' */

const dockerfile = fileURLToPath(new URL('../../examples/spa/Dockerfile', import.meta.url))
const manifest = readFileSync(new URL('../../deploy/kubernetes/serve-dist.yaml', import.meta.url), 'utf8')
const probePaths = Array.from(manifest.matchAll(/httpGet: \{ path: (\S+), port: ops \}/g), ([, path]) => path)
const isRoot = process.getuid?.() === 0

/**
 * Lints the Dockerfile of examples/spa, does its steps, and runs what comes out as a container would.
 *
 * @param {StandAloneCopy & { directory: string, python: string | undefined }} place
 * @param {Findings} findings
 * @returns {Promise<string>} The folder of the application in the image.
 */
export async function checkContainer({ project, tarballs, directory, python }, findings) {
  if (python === undefined) findings.skip('hadolint on the Dockerfile', 'it comes from PyPI')
  else {
    const hadolint = join(dirname(python), 'hadolint')
    const { exitCode, output } = await runCommand([hadolint, dockerfile], { isQuiet: true })
    findings.note('hadolint finds nothing in the Dockerfile', exitCode === 0 ? undefined : output)
  }
  const account = accountWithoutRights()
  const image = await buildImage({
    context: project,
    directory: join(directory, 'image'),
    tarballs,
    environment: await environmentOf(directory),
    account,
  })
  findings.note(`each step of the Dockerfile runs${account === undefined ? '' : ', as nobody'}`)
  noteContents(image, findings)
  await noteLife(image, findings)
  return image.workingDirectory
}

/**
 * Nothing of ours but what a container would have, and the registry that npm asks here.
 *
 * @param {string} directory
 */
async function environmentOf(directory) {
  const { output } = await runCommand(['npm', 'config', 'get', 'registry'], { cwd: directory, isQuiet: true })
  const registry = /^https?:\/\/\S+$/m.exec(output)?.[0]
  const passed = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS']
  return {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    ...(registry !== undefined && { npm_config_registry: registry }),
    ...Object.fromEntries(passed.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
  }
}

/**
 * @param {Stage} image
 * @param {Findings} findings
 */
function noteContents({ workingDirectory, root, user }, findings) {
  findings.note(
    'the image has the server and the build, and nothing else',
    difference(readdirSync(workingDirectory).toSorted(), ['dist', 'node_modules']),
  )
  const modules = readdirSync(join(workingDirectory, 'node_modules'))
  const tools = ['vite', 'react', 'typescript'].filter((name) => modules.includes(name))
  findings.note('no tool of the build is in the image', difference(tools, []))
  findings.note(
    'its user is not root, and told by number',
    /^[1-9]\d*:[1-9]\d*$/.test(user) ? undefined : `USER ${user}`,
  )
  const kept = readdirSync(join(dirname(root), 'stage-0/app')).filter((name) =>
    /^(?:Dockerfile|\.dockerignore)$/.test(name),
  )
  findings.note('.dockerignore keeps the Dockerfile out of the build', difference(kept, []))
}

/**
 * Starts, is healthy, answers, and ends on SIGTERM: as process 1 where we may make it that.
 *
 * @param {Stage} image
 * @param {Findings} findings
 */
async function noteLife(image, findings) {
  const { command, healthcheck, workingDirectory } = image
  if (command === undefined || healthcheck === undefined)
    throw new Error('the Dockerfile has no CMD or no HEALTHCHECK')
  const port = await freePort()
  const opsPort = await freePort()
  const environment = {
    PATH: process.env['PATH'],
    ...image.environment,
    PORT: String(port),
    OPS: `:${opsPort}`,
  }
  const isHealthy = async (own = {}) => {
    const options = { cwd: workingDirectory, environment: { ...environment, ...own }, isQuiet: true }
    return (await runCommand(healthcheck, options)).exitCode === 0
  }
  findings.note('the healthcheck fails before the server is there', difference(await isHealthy(), false))

  // Root is stopped by no mode; the user of the image is not the owner either.
  execFileSync('chmod', ['-R', 'a-w', image.root])
  try {
    const isFirst = isRoot && existsSync('/usr/bin/unshare') && existsSync('/usr/bin/setpriv')
    const server = await startServer(isFirst ? asFirstProcess(command, image.user) : command, {
      cwd: workingDirectory,
      env: environment,
    })
    const answer = await ask(`http://127.0.0.1:${port}/`, { 'Accept-Encoding': 'zstd, br, gzip' })
    findings.note(
      'it serves the build from a file system that it cannot write to',
      difference([answer.status, answer.headers['content-encoding']], [200, 'zstd']),
    )
    const spellings = ['', ':', '*:', '0.0.0.0:', '127.0.0.1:', 'localhost:'].map((host) => host + opsPort)
    const healthy = spellings.map((OPS) => isHealthy({ OPS }))
    findings.note(
      'the healthcheck passes, however OPS is written',
      difference(
        await Promise.all(healthy),
        spellings.map(() => true),
      ),
    )
    const probes = probePaths.map(
      async (path) => (await ask(`http://127.0.0.1${environment.OPS}${path}`)).status,
    )
    findings.note(
      'the probes of the Kubernetes manifest pass',
      difference(await Promise.all(probes), [200, 200]),
    )
    const outside = await ask(`http://127.0.0.1:${port}/metrics`)
    findings.note('metrics are not on the public port', difference(outside.status, 404))
    process.kill(isFirst ? childOf(server.pid) : server.pid, 'SIGTERM')
    findings.note(`it ends on SIGTERM${isFirst ? ' as process 1' : ''}`, difference(await server.ended, 0))
    if (!isFirst) findings.skip('the same as process 1', 'that takes root, unshare and setpriv')
  } finally {
    execFileSync('chmod', ['-R', 'u+w', image.root])
  }
}

/**
 * @param {[string, ...string[]]} command
 * @param {string} user
 * @returns {[string, ...string[]]}
 */
function asFirstProcess(command, user) {
  const [uid, gid] = user.split(':')
  const account = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    '--bounding-set=-all',
  ]
  return ['unshare', '--pid', '--fork', '--kill-child', 'setpriv', ...account, ...command]
}

/** @param {number} pid */
function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
}
