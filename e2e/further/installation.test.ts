import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { writeBinaryPackage } from '../../packages/engine/binary-packages.mjs'
import { installWithNpm } from '../../scripts/copy-spa.mjs'
import { copyBuild } from '../src/copy-build.ts'
import { sendRequest } from '../src/send-request.ts'
import { runToEnd, startCommand } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const spa = inject('packedSpa')
const tarballs = path.join(spa.project, 'tarballs')

interface Installation {
  readonly project: string
  readonly command: readonly [string, ...string[]]
  readonly packages: readonly string[]
  readonly bytes: number
}

/**
 * Runs `npm install @serve-dist/server` in an empty folder. The registry does not have these versions of
 * serve-dist's packages.
 */
async function install(...flags: readonly string[]): Promise<Installation> {
  const project = await temporaryFolder()
  const files = (await readdir(tarballs)).map((name) => [
    `@serve-dist/${path.basename(name, '.tgz')}`,
    `file:${path.join(tarballs, name).replaceAll('\\', '/')}`,
  ])
  const { '@serve-dist/server': server, ...overrides }: Record<string, string> = Object.fromEntries(files)
  const manifest = { private: true, dependencies: { '@serve-dist/server': server }, overrides }
  await writeFile(path.join(project, 'package.json'), JSON.stringify(manifest))
  await installWithNpm(project, ...flags)
  const modules = path.join(project, 'node_modules')
  const lock = await readFile(path.join(modules, '.package-lock.json'), 'utf8')
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } = JSON.parse(lock)
  expect(Object.keys(packages).filter((name) => packages[name]?.hasInstallScript)).toEqual([])
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(path.join(entry.parentPath, entry.name))).size)
  const bin = path.join(modules, '@serve-dist/server/bin/serve-dist.js')
  return {
    project,
    command: [process.execPath, bin],
    packages: Object.keys(packages),
    bytes: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
  }
}

async function writePages(project: string): Promise<void> {
  await mkdir(path.join(project, 'public'))
  await writeFile(path.join(project, 'public/index.html'), '<!doctype html><title>page</title>\n'.repeat(60))
}

/** The sizes of an installation in the documents: with and without optional packages. */
const documents = ['README.md', 'docs/deploying.md'].map((name) =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'),
)
const said = documents.map((text) => {
  const figures = text.matchAll(/(\d+) packages(?:,| and)\s([\d.]+)\sMB/g)
  return Array.from(figures, ([, packages, megabytes]) => [Number(packages), Number(megabytes)]).toSorted(
    ([one = 0], [other = 0]) => other - one,
  )
})

/** Compares an installation with the documents. Third-party packages may have grown slightly. */
function expectDocumentedSize(index: number, { packages, bytes }: Installation): void {
  const megabytes = bytes / 1e6
  console.log(`an installation: ${packages.length} packages, ${megabytes.toFixed(2)} MB`)
  for (const figures of said) {
    expect(figures).toHaveLength(2)
    expect(figures[index]?.[0]).toBe(packages.length)
    expect(Math.abs(megabytes - (figures[index]?.[1] ?? 0))).toBeLessThanOrEqual(0.1)
  }
}

describe('npm install @serve-dist/server', () => {
  test('installs everything, with the size in the documents', async () => {
    const installation = await install()
    const { project, command } = installation
    expectDocumentedSize(0, installation)

    await writePages(project)
    const compressed = await runToEnd(command, { args: ['compress', 'public'], cwd: project })
    expect(compressed).toMatchObject({ exitCode: 0, output: expect.stringContaining('1 file, ') })
    expect(await readdir(path.join(project, 'public'))).toEqual(
      expect.arrayContaining(['index.html.zst', 'index.html.br', 'index.html.gz']),
    )
    const report = await runToEnd(command, { args: ['report', 'public'], cwd: project })
    expect(report).toMatchObject({ exitCode: 0, errors: '' })
    const server = await startCommand(command, { args: ['public', '--port', '0'], cwd: project })
    expect((await sendRequest(server.url)).status).toBe(200)
    await server.stop()
  })
})

const addon = fileURLToPath(new URL('../../packages/engine/dist/engine.node', import.meta.url))

describe.skipIf(!existsSync(addon))('npm install of the package of a binary', () => {
  test('installs what @serve-dist/engine loads on this platform, with the size in the documents', async () => {
    const { project } = await install()
    const program = path.join(project, 'load.mjs')
    await writeFile(program, "import { loadEngine } from '@serve-dist/engine'\nconsole.log(loadEngine())")
    const load = async () => (await runToEnd([process.execPath], { args: [program], cwd: project })).output
    const [, platform = ''] = /^the binary for (\S+) is not installed: /.exec(await load()) ?? []

    const folder = await temporaryFolder()
    const engine = { version: '0.1.0', license: 'MIT', engines: {} }
    await writeBinaryPackage(platform, addon, engine, folder)
    await installWithNpm(project, folder)
    expect(await load()).toContain('Engine')
    const megabytes = `${((await stat(addon)).size / 1e6).toFixed(1)} MB more`
    for (const text of documents) expect(text.replaceAll(/\s+/g, ' ')).toContain(megabytes)
  })
})

describe('npm install @serve-dist/server --omit=optional', () => {
  test('installs what the documents list, and serves', async () => {
    const installation = await install('--omit=optional')
    const { project, command } = installation
    expectDocumentedSize(1, installation)

    const dist = await copyBuild(spa.dist)
    const entry = path.join(project, 'entry.mjs')
    await writeFile(entry, "export default (request, response) => response.end('rendered')")
    const serve = async (flags: readonly string[], target = '') => {
      const server = await startCommand(command, { args: [dist, '--port', '0', ...flags], cwd: project })
      try {
        await writeFile(path.join(dist, 'late.txt'), 'late')
        const { status, body } = await sendRequest(new URL(target, server.url))
        return [status, body.toString()]
      } finally {
        await rm(path.join(dist, 'late.txt'))
        expect(await server.stop()).toMatchObject({ exitCode: 0, errors: '' })
      }
    }
    const page = [200, await readFile(path.join(dist, 'index.html'), 'utf8')]
    expect(await serve([])).toEqual(page)
    expect(await serve(['--workers', '2'])).toEqual(page)
    expect(await serve(['--fs-fallback'], 'late.txt')).toEqual([200, 'late'])
    expect(await serve(['--ssr', entry], 'rendered')).toEqual([200, 'rendered'])
    const { cert, key } = await makeCertificate(project)
    expect(await serve(['--tls-cert', cert, '--tls-key', key])).toEqual(page)
  })

  test('reports a lost manifest, instead of a missing package, if a copy omits hidden files', async () => {
    const { project, command } = await install('--omit=optional')
    const dist = await copyBuild(spa.dist)
    await rm(path.join(dist, '.serve-dist'), { recursive: true })
    const end = await runToEnd(command, { args: [dist], cwd: project })
    expect(end).toMatchObject({ exitCode: 1, output: '' })
    expect(end.errors).toMatch(/^serve-dist: SD_MANIFEST_LOST: /)
    expect(end.errors).toContain('cp -r dist/. target')
    expect(end.errors).not.toContain('npm install')
  })

  test('names the package to install for a missing feature, in one line', async () => {
    const { project, command } = await install('--omit=optional')
    await writePages(project)
    const ends = await Promise.all(
      [['compress', 'public'], ['report', 'public'], ['public']].map((args) =>
        runToEnd(command, { args, cwd: project }),
      ),
    )
    expect(ends).toEqual(
      ['precompress', 'report', 'precompress'].map((name) => ({
        exitCode: 1,
        output: '',
        errors: expect.stringMatching(new RegExp(`^serve-dist: .+npm install @serve-dist/${name}.*\\n$`)),
      })),
    )
  })

  test('installs the preview, which serves a build', async () => {
    const { project } = await install('--omit=optional')
    const dist = await copyBuild(spa.dist)
    const plugin = createRequire(path.join(project, 'package.json')).resolve('@serve-dist/server/vite')
    const program = path.join(project, 'preview.mjs')
    // Vite is no dependency of serve-dist. It comes from the other project.
    const vite = createRequire(path.join(spa.project, 'package.json')).resolve('vite')
    const text = `
import { preview } from ${JSON.stringify(pathToFileURL(vite).href)}
import previewDist from ${JSON.stringify(pathToFileURL(plugin).href)}
const build = { outDir: ${JSON.stringify(dist)} }
const server = await preview({ configFile: false, plugins: [previewDist()], build, preview: { port: 0 } })
server.printUrls()
process.once('SIGTERM', () => process.exit(0))
`
    await writeFile(program, text)
    const server = await startCommand([process.execPath, program], { args: [], cwd: project })
    const fields = { 'accept-encoding': 'br', 'sec-fetch-mode': 'navigate' }
    const { status, headers } = await sendRequest(server.url, { headers: fields })
    await server.stop()
    expect([status, headers['content-encoding']]).toEqual([200, 'br'])
  })
})

/** Creates a certificate for 127.0.0.1 with openssl. */
async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const args = ['req', ...kind, '-keyout', key, '-out', cert, '-subj', '/CN=127.0.0.1']
  expect(await runToEnd(['openssl'], { args, cwd: folder })).toMatchObject({ exitCode: 0 })
  return { cert, key }
}

test('require() of the plugin returns a function', () => {
  const required: unknown = createRequire(path.join(spa.project, 'package.json'))('@serve-dist/vite')
  expect(required).toBeTypeOf('function')
})
