import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { InlineConfig, ViteDevServer } from 'vite'
import { runCommand } from '../../../scripts/run-command.mjs'
import serveDist, { type ServeDistOptions } from '../src/index.ts'
import { createProject, type Project } from './support/project.ts'
import { request } from './support/request.ts'
import { isChosen, type TestedVite, vites } from './support/vites.ts'

// Names that the environment of the test process does not contain.
const options: ServeDistOptions = {
  env: {
    SD_TEST_URL: { required: true },
    SD_TEST_RELEASE: { default: 'dev' },
    SD_TEST_LIMIT: { type: 'number' },
    SD_TEST_MENU: { type: 'json', required: true },
  },
}
const reader = "import env from 'virtual:serve-dist/env'\n"
const show = `${reader}export const shown = JSON.stringify({ ...env })\nexport default env`
const site = {
  'package.json': '{ "type": "module" }',
  'index.html': '<!doctype html><html><head><script type="module" src="/main.js"></script></head></html>',
  'main.js': `${reader}document.title = env.SD_TEST_URL`,
  'show.js': show,
}
const files = { '.env': 'SD_TEST_URL=/of-all\nSD_TEST_MENU=[1]', '.env.stage': 'SD_TEST_URL=/of-stage' }
const expected = { SD_TEST_URL: '/of-all', SD_TEST_RELEASE: 'dev', SD_TEST_MENU: [1] }

async function develop(
  { load }: TestedVite,
  project: Project,
  config: InlineConfig = {},
): Promise<ViteDevServer> {
  const { createServer } = await load()
  const server = await createServer({
    ...project.config({ plugins: [serveDist(options)], ...config }),
    server: { port: 0, host: '127.0.0.1' },
  })
  onTestFinished(() => server.close())
  return await server.listen()
}

async function ask(server: ViteDevServer, path: string): Promise<string> {
  const address = server.httpServer?.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const answer = await request(port, path)
  return answer.body.toString()
}

/** Requests the module as a browser does. */
function askForModule(server: ViteDevServer): Promise<string> {
  return ask(server, '/@id/__x00__virtual:serve-dist/env')
}

function valuesIn(module: string): unknown {
  const [, text = '""'] = /JSON\.parse\((".*")\)/.exec(module) ?? []
  return JSON.parse(JSON.parse(text))
}

describe.each(vites)('virtual:serve-dist/env in development by $name', (vite) => {
  test('contains the values of .env files, for browsers and servers', async () => {
    const project = await createProject({ ...site, ...files })
    const server = await develop(vite, project)
    expect(valuesIn(await askForModule(server))).toEqual(expected)
    const { shown } = await server.ssrLoadModule('/show.js')
    expect(JSON.parse(shown)).toEqual(expected)
    expect(await project.read('serve-dist-env.d.ts')).toContain('readonly SD_TEST_LIMIT?: number')
  })

  test('works in optimized dependencies', async () => {
    const project = await createProject({
      ...site,
      ...files,
      'main.js': "import { shown } from 'dependency'\ndocument.title = shown",
      'node_modules/dependency/package.json': '{ "name": "dependency", "type": "module", "main": "show.js" }',
      'node_modules/dependency/show.js': show,
    })
    const server = await develop(vite, project)
    const main = await ask(server, '/main.js')
    const [dependency = ''] = /\/node_modules\/\.vite\/deps\/[^"]*/.exec(main) ?? []
    expect(await ask(server, dependency)).toContain('"/@id/__x00__virtual:serve-dist/env"')
  })

  test("reads the mode's files in envDir, with precedence for the process's environment", async () => {
    vi.stubEnv('SD_TEST_RELEASE', 'of the process')
    onTestFinished(() => void vi.unstubAllEnvs())
    const project = await createProject({
      ...site,
      'stages/.env': files['.env'],
      'stages/.env.stage': `${files['.env.stage']}\nSD_TEST_RELEASE=of-stage`,
    })
    const server = await develop(vite, project, { mode: 'stage', envDir: 'stages' })
    const { default: env } = await server.ssrLoadModule('/show.js')
    expect(env).toMatchObject({ SD_TEST_URL: '/of-stage', SD_TEST_RELEASE: 'of the process' })
  })

  test('reports all problems at once without values, and recovers after the file is fixed', async () => {
    const project = await createProject({ ...site, '.env': 'SD_TEST_LIMIT=hidden\nSD_TEST_MENU={hidden' })
    const server = await develop(vite, project)
    await askForModule(server)
    const told = project.logger.errors.join('\n')
    expect(told).toContain('SD_TEST_URL: the build requires this environment variable, and it is not set')
    expect(told).toContain(`or in a file such as ${project.root}/.env.development:`)
    expect(told).toContain('SD_TEST_LIMIT: expected a number')
    expect(told).toContain('SD_TEST_MENU: expected JSON')
    expect(told).not.toContain('hidden')
    await expect(server.ssrLoadModule('/show.js')).rejects.toThrow(/SD_TEST_LIMIT: expected a number/)

    await project.write('.env', files['.env'])
    await vi.waitFor(async () => expect(valuesIn(await askForModule(server))).toEqual(expected), 10_000)
    await project.write('.env', `${files['.env']}\nSD_TEST_LIMIT=5`)
    const changed = { ...expected, SD_TEST_LIMIT: 5 }
    await vi.waitFor(async () => expect(valuesIn(await askForModule(server))).toEqual(changed), 10_000)
  })

  test('warns once about names that look secret, in development and in builds', async () => {
    const project = await createProject({ ...site, ...files })
    const plugins = [serveDist({ env: { ...options.env, STRIPE_SECRET: {} } })]
    await develop(vite, project, { plugins })
    await vite.build(project, { plugins })
    expect(project.logger.warnings.filter((text) => text.includes('STRIPE_SECRET'))).toHaveLength(1)
  })
})

/** Runs code in Node, in the project's folder without packages. */
async function runInNode(project: Project, code: string, environment: Record<string, string> = {}) {
  await project.write('run.mjs', code)
  return await runCommand([process.execPath, 'run.mjs'], {
    cwd: project.root,
    isQuiet: true,
    environment,
  })
}

const set = { SD_TEST_URL: 'https://api.example.org', SD_TEST_MENU: '{"__proto__":1}', SD_TEST_LIMIT: '1e2' }

describe.each(vites)('virtual:serve-dist/env in the bundle of a server by $name', ({ build, buildApp }) => {
  test("reads the process's environment at the first access to a value", async () => {
    const project = await createProject({ ...site, 'show.js': `${reader}export default env` })
    await build(project, { plugins: [serveDist(options)], build: { ssr: 'show.js' } })
    expect(await project.list()).not.toContain('serve-dist-env.js')
    expect(await project.read('dist/show.js')).not.toContain('@serve-dist')

    const print = `import env from './dist/show.js'\nconsole.log(JSON.stringify(env), Object.keys(env).length)`
    const { output, exitCode } = await runInNode(project, print, set)
    expect(output.trim()).toBe(
      '{"SD_TEST_URL":"https://api.example.org","SD_TEST_RELEASE":"dev","SD_TEST_LIMIT":100,"SD_TEST_MENU":{"__proto__":1}} 4',
    )
    expect(exitCode).toBe(0)

    const failed = await runInNode(project, print, { SD_TEST_LIMIT: 'hidden' })
    expect(failed.exitCode).toBe(1)
    expect(failed.output).toMatch(
      /SD_TEST_URL: the build requires .*\n +SD_TEST_LIMIT: expected a number .*\n +SD_TEST_MENU: the build/,
    )
    expect(failed.output).not.toContain('hidden')
    const untouched = await runInNode(project, `import './dist/show.js'\nconsole.log('runs')`)
    expect(untouched.output.trim()).toBe('runs')
  })

  test.each([{ define: { 'process.env': {} } }, { ssr: { target: 'webworker', noExternal: true } } as const])(
    'reads the environment if Vite replaces process.env: %j',
    async (config) => {
      const project = await createProject({ ...site, 'show.js': `${reader}export default env` })
      const plugins = [serveDist(options)]
      await build(project, { ...config, plugins, build: { ssr: 'show.js' } })
      const print = `import env from './dist/show.js'\nconsole.log(env.SD_TEST_LIMIT)`
      expect((await runInNode(project, print, set)).output.trim()).toBe('100')
    },
  )

  test('is the module for browsers in the client of the same application', async () => {
    const project = await createProject({ ...site, 'show.js': `${reader}export default env` })
    await buildApp(project, {
      plugins: [serveDist(options)],
      environments: {
        client: { build: { outDir: 'dist/client' } },
        ssr: {
          build: {
            outDir: 'dist/server',
            ssr: true,
            rollupOptions: { input: join(project.root, 'show.js') },
          },
        },
      },
      builder: {},
    })
    expect(await project.list('dist/client')).toContain('serve-dist-env.js')
    expect((await project.manifest('dist/client')).environment?.path).toBe('serve-dist-env.js')
    expect(await project.list('dist/server')).not.toContain('serve-dist-env.js')
    const print = `import env from './dist/server/show.js'\nconsole.log(env.SD_TEST_URL)`
    expect((await runInNode(project, print, set)).output.trim()).toBe('https://api.example.org')
  })
})

describe.runIf(isChosen({ name: 'Vite 8' }))('virtual:serve-dist/env in vitest', () => {
  const plugin = new URL('../dist/index.js', import.meta.url).href
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

  async function runTests(env: string): Promise<{ exitCode: number | null; output: string }> {
    const project = await createProject({
      ...site,
      '.env.test': env,
      'show.test.js': `import env, { shown } from './show.js'
        test('values', () => { expect(env.SD_TEST_URL).toBe('/tested'); expect(shown).toContain('dev') })`,
      'mocked.test.js': `import env from 'virtual:serve-dist/env'
        vi.mock('virtual:serve-dist/env', () => ({ default: { SD_TEST_URL: '/mocked' } }))
        test('a mock', () => { expect(env.SD_TEST_URL).toBe('/mocked') })`,
      'vitest.config.mjs': `import serveDist from ${JSON.stringify(plugin)}
        export default { plugins: [serveDist(${JSON.stringify(options)})], test: { globals: true } }`,
    })
    return await runCommand([process.execPath, vitest, 'run'], { cwd: project.root, isQuiet: true })
  }

  test('contains the checked values of .env files, unless a test mocks the module', async () => {
    const passed = await runTests('SD_TEST_URL=/tested\nSD_TEST_MENU=[]')
    expect(passed.output).toMatch(/Tests +2 passed/)
    expect(passed.exitCode).toBe(0)
    const failed = await runTests('SD_TEST_LIMIT=many')
    expect(failed.output).toMatch(/SD_TEST_URL: the build requires .*\n +SD_TEST_LIMIT: expected a number/)
    expect(failed.output).toMatch(/Tests +1 passed/)
    expect(failed.exitCode).toBe(1)
  })
})
