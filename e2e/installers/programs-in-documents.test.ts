import { createServer } from 'node:http'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { transformWithOxc } from 'vite'
import { parse } from 'yaml'
import type { Block } from '../../scripts/document-blocks.mjs'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import { runCommand } from '../../scripts/run-command.mjs'
import { findRuntime } from '../src/find-runtime.ts'
import { listenLocally } from '../src/listen-locally.ts'
import { type ReceivedResponse, sendRequest } from '../src/send-request.ts'
import { blocksIn, isNotRun, linesOf } from './support/document-blocks.ts'
import { type DocumentedSite, prepareSite } from './support/documented-site.ts'

const programs = blocksIn('js', 'ts').filter(({ code }) => !isNotRun(code))
const configurations = programs.filter(({ code }) => isConfiguration(code))
const servers = programs.filter(({ code }) => code.includes('4173'))
const rules = programs.filter(({ code }) => code.includes('// serve-dist.config.js'))
const modules = programs.filter(({ code }) => code.includes("'virtual:serve-dist/env'"))
const clients = programs.filter(({ code }) => code.includes("'virtual:serve-dist/client'"))
const others = programs.filter(
  (block) => ![...configurations, ...servers, ...rules, ...modules, ...clients].includes(block),
)
const root = fileURLToPath(new URL('../..', import.meta.url))
const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

/** The text of a block with rules, the target of a request, and a field of the answer with its expected value. */
const shownFields = [
  [
    'reportOnly',
    '/',
    'content-security-policy-report-only',
    /connect-src 'self' https:\/\/api\.example\.org;/,
  ],
  ['images.example', '/', 'content-security-policy', /img-src 'self' data: https:\/\/images\.example\.org;/],
  ['csp:', '/', 'content-security-policy', /^default-src 'self'; script-src 'self'/],
  ['X-Robots-Tag', '/', 'x-robots-tag', /^noindex$/],
  ['/item.php', '/item.php?id=7&utm=a', 'location', /^\/items\/7\?utm=a$/],
  ['basicAuth', '/', 'www-authenticate', /^Basic realm=/],
  ["env: 'API'", '/api/users?page=2', 'x-arrived', /^\/api\/users\?page=2$/],
] as const

/** Code that a block omits, as the text above the block says. */
const leftOut = 'const frameworkHandler = (request, response) => response.end("framework")\n'

describe.skipIf(process.platform === 'win32')('programs in documents', () => {
  let site: DocumentedSite
  beforeAll(async () => {
    site = await prepareSite()
  })
  afterAll(async () => await site.project.remove())

  test.each(configurations)('$place builds', async ({ code }) => {
    const folder = await site.folderFor(code)
    const isFragment = !code.includes('import ')
    const whole = `import serveDist from '@serve-dist/vite'\nexport default { plugins: [\n${code}] }\n`
    await writeFile(path.join(folder, 'vite.config.ts'), isFragment ? whole : code)
    expect(await site.project.run('npx vite build', folder)).toMatchObject({ exitCode: 0 })
  })

  test.each(servers)('$place serves the build', async (block) => {
    const folder = await site.folderFor(block.code)
    const port = await freePort()
    const [program, file] = [commandOf(block), path.join(folder, 'server.js')]
    const code = block.code
      .replaceAll('4173', String(port))
      .replaceAll('9090', '0')
      .replaceAll("'/srv/site-store'", "'srv-store'")
      .replaceAll("'/var/cache/site'", "'cache'")
    const prelude =
      code.includes('const frameworkHandler') || !code.includes('frameworkHandler') ? '' : leftOut
    await writeFile(file, `${prelude}${code}\nconsole.log('http://127.0.0.1:${port}/ ')\n`)
    const hasApi = code.includes('/api/time')
    // Without an application after the build, the build's type decides.
    const isApplication =
      code.includes("'spa'") || code.includes('createServer') || code.includes('await serve({')
    const server = await site.project.start(`${program} server.js`, folder)
    try {
      const ask = (target: string, headers = {}): Promise<ReceivedResponse> =>
        sendRequest(new URL(`http://127.0.0.1:${port}${target}`), {
          headers: { ...headers, ...(code.includes('allowHosts') && { host: 'example.com' }) },
        })
      const page = await vi.waitFor(() => ask('/', { 'accept-encoding': 'br' }))
      // A browser may navigate there, too.
      const time = hasApi ? (await ask('/api/time', navigation)).body.toString() : '{"time":0}'
      expect({
        page: [page.status, page.headers['content-encoding']],
        time: JSON.parse(time),
        route: (await ask('/settings', navigation)).status,
        missing: (await ask('/missing.js')).status,
      }).toEqual({
        page: [200, 'br'],
        time: { time: expect.any(Number) },
        route: isApplication ? 200 : 404,
        missing: prelude === '' ? 404 : 200,
      })
    } finally {
      await server.stop()
    }
  })

  /** Builds with the values of docs/environment.md. Returns the command that starts a server. */
  async function buildWithEnvironment(folder: string, imports: string): Promise<string> {
    await writeFile(path.join(folder, 'vite.config.ts'), configurations.find(isAboutEnvironment)?.code ?? '')
    await writeFile(path.join(folder, 'src/later.ts'), imports)
    const lines = blocksIn('sh').filter(isAboutEnvironment).flatMap(linesOf)
    const [build = '', start = ''] = lines.filter((line) => line.startsWith('API_URL='))
    expect(await site.project.run(build, folder)).toMatchObject({ exitCode: 0 })
    return start
  }

  test.each(modules)(
    '$place gets the values that docs/environment.md sets for the server',
    async ({ code }) => {
      const folder = await site.folderFor(code)
      const start = await buildWithEnvironment(folder, code)
      const server = await site.project.start(start, folder)
      const { headers, body } = await sendRequest(new URL('/serve-dist-env.js', server.url))
      await server.stop()
      expect(headers['cache-control']).toBe('no-cache')
      expect(body.toString()).toContain('https://api.example.org')
      const wrong = await site.project.run('LIMIT=ten npx serve-dist', folder)
      const document = await readFile(path.join(root, 'docs/environment.md'), 'utf8')
      const [shown = 'nothing'] =
        /(?<=^ {4})serve-dist: SD_ENVIRONMENT_INVALID: (?:.|\n {4})+/m.exec(document) ?? []
      expect(wrong).toMatchObject({ exitCode: 1, output: '' })
      expect(wrong.errors).toContain(shown.replaceAll('\n    ', '\n'))
    },
  )

  test.each(clients)('$place is bundled', async ({ code }) => {
    const folder = await site.folderFor(code)
    await writeFile(path.join(folder, 'src/later.ts'), code)
    expect(await site.project.run('npx vite build', folder)).toMatchObject({ exitCode: 0 })
    const assets = path.join(folder, 'dist/assets')
    const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'))
    const texts = await Promise.all(scripts.map((name) => readFile(path.join(assets, name), 'utf8')))
    expect(texts.join('\n')).toMatch(/addEventListener\([`'"]vite:preloadError/)
  })

  test.each(others)('$place runs', async ({ code }) => {
    const folder = await site.folderFor(code)
    await writeFile(path.join(folder, 'program.mjs'), (await transformWithOxc(code, 'program.ts')).code)
    expect(await site.project.run('node program.mjs', folder)).toMatchObject({ exitCode: 0, errors: '' })
  })

  test.each(rules)('$place is applied', async ({ code }) => {
    const folder = await site.folderFor(code)
    const imports = modules.find(isAboutEnvironment)?.code ?? ''
    const start = code.includes('env:') ? await buildWithEnvironment(folder, imports) : 'npx serve-dist'
    await writeFile(path.join(folder, 'serve-dist.config.js'), code)
    const backend = await listenLocally(
      createServer((request, response) => {
        response.setHeader('X-Arrived', request.url ?? '').end()
      }),
    )
    const [, target, field, value] = shownFields.find(([sign]) => code.includes(sign)) ?? [
      '',
      '/',
      'none',
      'none',
    ]
    const variables = `SITE_PASSWORD=name:password API=${backend.url}`
    const server = await site.project.start(`${variables} ${start}`, folder)
    const { headers } = await sendRequest(new URL(target, server.url))
    await server.stop()
    await backend.close()
    expect(headers[field]).toMatch(value)
  })

  test.each(blocksIn('_redirects'))('$place answers navigations', async ({ code }) => {
    const folder = await site.folderFor(code)
    await writeFile(path.join(folder, 'public/_redirects'), code)
    expect(await site.project.run('npx vite build', folder)).toMatchObject({ exitCode: 0 })
    const server = await site.project.start('npx serve-dist', folder)
    const [from = '', to = ''] = code.trim().split(/\s+/)
    const answer = await sendRequest(new URL(from.replace('*', '42'), server.url), { headers: navigation })
    const page = await sendRequest(new URL(to === '/index.html' ? '/' : to.replace('.html', ''), server.url))
    await server.stop()
    expect(answer).toMatchObject({ status: 200, body: page.body })
  })

  test.each(blocksIn('yaml'))('$place has valid shell steps, and commands that work', async ({ code }) => {
    const folder = await site.folderFor(code)
    await mkdir(path.join(folder, '../report'))
    // GitHub has steps in `jobs`, GitLab has a script in each job.
    const { jobs, ...named }: { jobs?: Record<string, Job> } & Record<string, Job> = parse(code)
    const scripts = Object.values(jobs ?? named).flatMap(
      ({ steps = [], script }) => script ?? steps.flatMap(({ run }) => run ?? []),
    )
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) {
      expect(await runCommand(['bash', '-n', '-c', script], { isQuiet: true })).toEqual({
        exitCode: 0,
        output: '',
      })
      const lines = script.split('\n').filter((line) => line.startsWith('npx ') && !isNotRun(line))
      // From the workflow's `env`.
      const store = code.includes('SERVE_DIST_STORE') ? 'SERVE_DIST_STORE=srv-store ' : ''
      for (const line of lines)
        expect(await site.project.run(store + line, folder)).toMatchObject({ exitCode: 0 })
    }
  })

  test('docs/operating.md shows the keys of /readyz', async () => {
    const [shown = ''] = blocksIn('json').flatMap(({ code }) => (code.includes('"ready"') ? [code] : []))
    const folder = await site.folderFor('')
    const server = await site.project.start('npx serve-dist --ops 127.0.0.1:0', folder)
    try {
      // The second URL of the output.
      const ops = await vi.waitUntil(
        () => Array.from(server.output().output.matchAll(/http:\/\/\S+/g), ([found]) => found)[1],
      )
      const ready: object = JSON.parse((await sendRequest(new URL('/readyz', ops))).body.toString())
      const { reload: _reload, ...document } = JSON.parse(shown)
      expect(Object.keys(ready)).toEqual(expect.arrayContaining(Object.keys(document)))
    } finally {
      await server.stop()
    }
  })
})

interface Job {
  readonly steps?: readonly { readonly run?: string }[]
  readonly script?: readonly string[]
}

function isAboutEnvironment({ place }: Block): boolean {
  return place.startsWith('docs/environment.md:')
}

function isConfiguration(code: string): boolean {
  return (
    /serveDist\(\{|defineConfig|previewDist/.test(code) &&
    !code.includes('serve-dist.config') &&
    !code.includes('Fastify')
  )
}

/** Returns the command that runs a code block. For Deno, the document contains the command. */
function commandOf({ code }: Block): string {
  if (code.includes('Bun.serve')) return findRuntime('bun') ?? 'bun'
  if (!code.includes('Deno.serve')) return 'node'
  const command =
    blocksIn('sh')
      .flatMap(linesOf)
      .find((line) => line.startsWith('deno run')) ?? ''
  return command.replace('deno', findRuntime('deno') ?? 'deno').replace(/ server\.js$/, '')
}
