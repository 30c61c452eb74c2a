import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { describeBlackBox } from '../../packages/server/test/support/black-box.ts'
import { readChildProcessId } from '../../packages/server/test/support/read-child-process-ids.ts'
import { newerNode } from '../../packages/store/test/support/newer-node.ts'
import { blocksOf } from '../../scripts/document-blocks.mjs'
import { prepareImage } from '../../scripts/prepare-image.mjs'
import { runCommand } from '../../scripts/run-command.mjs'
import {
  type ContainerOptions,
  dockerCommand,
  namespaceProbe,
  treeCommand,
} from '../src/container-command.ts'
import { sendRequest } from '../src/send-request.ts'
import { type CommandEnd, type RunningCommand, runToEnd, startCommand } from '../src/start-command.ts'

/** The name of an image. Without it, these tests assemble its root file system and run it without Docker. */
const image = process.env['SERVE_DIST_IMAGE']
const isAllowed = image !== undefined || (await runCommand(namespaceProbe, { isQuiet: true })).exitCode === 0
if (!isAllowed) console.error('✗ This machine does not allow unshare, so the image is not tested')

const root = fileURLToPath(new URL('../..', import.meta.url))
const hasEngine = existsSync(path.join(root, 'packages/engine/dist/engine.node'))
const freePorts = { PORT: '0', OPS: '127.0.0.1:0' }
const servers: RunningCommand[] = []
let folder: string
let tree: string

describe.skipIf(!isAllowed)('the image', () => {
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-image-')))
    tree = path.join(folder, 'tree')
    if (image === undefined) await assembleTree()
  })
  afterAll(async () => {
    await Promise.all(servers.filter((server) => server.isAlive()).map(stop))
    await rm(folder, { recursive: true, force: true })
  })

  describeBlackBox({
    name: 'the image with a volume',
    role: 'standalone',
    async start({ directory, memoryBudget }) {
      await chmod(directory, 0o755)
      const command = commandOf({ site: directory, environment: freePorts })
      const { url } = await start(command, '--memory-budget', String(memoryBudget))
      return Number(url.port)
    },
  })

  test('serves an application with the Dockerfile of README.md', async () => {
    const { dist } = inject('packedSpa')
    const variables = { ...freePorts, HEALTH: '/up', ACCESS_LOG: 'json', PROXY: '/api=http://127.0.0.1:9' }
    const server = await start(await buildFromReadme(dist, { environment: variables }))
    expect(server.output().output.includes('engine: native')).toBe(hasEngine)
    const ask = async (target: string) => {
      const { status, headers, body } = await sendRequest(new URL(target, server.url), {
        headers: { 'accept-encoding': 'br', 'sec-fetch-mode': 'navigate' },
      })
      return { status, coding: headers['content-encoding'], cache: headers['cache-control'], body }
    }
    const page = await readFile(path.join(dist, 'index.html.br'))
    const script = (await readdir(path.join(dist, 'assets'))).find((name) => name.endsWith('.js'))
    expect(await ask('/settings')).toEqual({ status: 200, coding: 'br', cache: 'no-cache', body: page })
    expect(await ask(`/assets/${script}`)).toMatchObject({ status: 200, coding: 'br', cache: /immutable/ })
    expect(await ask('/up')).toMatchObject({ status: 200 })
    expect(await ask('/api/')).toMatchObject({ status: 502 })
    expect(await stop(server)).toMatchObject({ exitCode: 0 })
  })

  test('has only Node.js and the packages of the server, and runs without rights', async () => {
    const program = `
      const { readdirSync, writeFileSync } = require('node:fs')
      const write = (file) => { try { writeFileSync(file, '') } catch ({ code }) { return code } }
      const packages = ['undici', 'pino', 'prom-client', '@aws-sdk/client-s3']
      for (const name of packages) require(require.resolve(name, { paths: ['/app'] }))
      console.log(JSON.stringify({
        user: [process.getuid(), process.getgid(), ...process.getgroups()],
        capabilities: /CapEff:\\s+(\\w+)/.exec(require('node:fs').readFileSync('/proc/self/status', 'utf8'))[1],
        programs: readdirSync('/bin'),
        npm: require('node:fs').existsSync('/app/node_modules/npm'),
        written: ['/app/x', '/site/x', '/tmp/x', '/x'].map(write),
      }))`
    const end = await runToEnd(commandOf({ entrypoint: ['node', '-e', program] }), { args: [], cwd: folder })
    expect(end).toMatchObject({ exitCode: 0, errors: '' })
    expect(JSON.parse(end.output)).toEqual({
      user: [65532, 65532, 65532],
      capabilities: '0000000000000000',
      programs: ['node'],
      npm: false,
      written: ['EROFS', 'EROFS', 'EROFS', 'EROFS'],
    })
  })

  test('has at most 60 MB compressed', async ({ skip }) => {
    skip(image !== undefined, 'the image workflow measures the image')
    const measure = 'tar --create --directory "$1" . | gzip | wc --bytes'
    const { output } = await runCommand(['sh', '-c', measure, 'sh', tree], { isQuiet: true })
    console.log(`the root file system: ${(Number(output) / 1e6).toFixed(1)} MB compressed`)
    expect(Number(output)).toBeGreaterThan(0)
    expect(Number(output)).toBeLessThanOrEqual(60e6)
  })
})

function commandOf(options: ContainerOptions): readonly [string, ...string[]] {
  return image === undefined ? treeCommand(tree, options) : dockerCommand(image, options)
}

/** Runs the steps of deploy/docker/Dockerfile. */
async function assembleTree(): Promise<void> {
  const context = path.join(folder, 'image')
  const packages = await prepareImage(context)
  const environment = {
    PATH: `${path.dirname(newerNode('node24') ?? process.execPath)}:${process.env['PATH']}`,
    npm_config_local_prefix: undefined,
    INIT_CWD: undefined,
  }
  await run(['sh', 'assemble.sh', tree, ...packages], { cwd: context, environment })
}

/** Executes the Dockerfile of README.md. Returns the command of the container. */
async function buildFromReadme(
  dist: string,
  options: ContainerOptions,
): Promise<readonly [string, ...string[]]> {
  const readme = { path: 'README.md', text: await readFile(path.join(root, 'README.md'), 'utf8') }
  const code = blocksOf(readme).find(({ language }) => language === 'dockerfile')?.code ?? ''
  const pattern = /^FROM (ghcr\.io\/serve-dist\/serve-dist)\nCOPY dist (\S+)\n$/
  const [, name = '', destination = ''] = pattern.exec(code) ?? []
  expect(name).not.toBe('')
  if (image === undefined) {
    const site = path.join(folder, 'with-site')
    await run(['cp', '--archive', tree, site])
    await cp(dist, path.join(site, destination), { recursive: true })
    return treeCommand(site, options)
  }
  const context = path.join(folder, 'with-site')
  await mkdir(context)
  await cp(dist, path.join(context, 'dist'), { recursive: true })
  await writeFile(path.join(context, 'Dockerfile'), code.replace(name, image))
  await run(['docker', 'build', '--tag', 'with-site', context])
  return dockerCommand('with-site', options)
}

async function run(command: readonly [string, ...string[]], options = {}): Promise<void> {
  const { exitCode, output } = await runCommand(command, { ...options, isQuiet: true })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${output}`)
}

async function start(
  command: readonly [string, ...string[]],
  ...args: readonly string[]
): Promise<RunningCommand> {
  const server = await startCommand(command, { args, cwd: folder })
  servers.push(server)
  return server
}

async function stop(server: RunningCommand): Promise<CommandEnd> {
  if (image === undefined) {
    // unshare forwards no signals. Its child is process 1 inside.
    process.kill(await readChildProcessId(server.pid), 'SIGTERM')
    await vi.waitUntil(() => !server.isAlive(), 30_000)
  }
  return await server.stop()
}
