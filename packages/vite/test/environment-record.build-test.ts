import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finish } from '@serve-dist/precompress'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import serveDist, { type ServeDistOptions } from '../src/index.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { createProject, type Project } from './support/project.ts'
import { type Ask, vites } from './support/vites.ts'

// Names that the environment of the test process does not contain.
const options: ServeDistOptions = {
  env: { SD_TEST_URL: { required: true }, SD_TEST_RELEASE: { default: 'dev' } },
}
const reader = "import env from 'virtual:serve-dist/env'\n"
const site = {
  'index.html': '<!doctype html><html><head><script type="module" src="/main.js"></script></head></html>',
  'main.js': `${reader}document.title = env.SD_TEST_URL`,
}

/** Returns the environment's path in the manifest, and the files that are marked as its module. */
async function environmentIn(project: Project, folder = 'dist'): Promise<unknown> {
  const { environment, files } = await project.manifest(folder)
  return [environment?.path, ...files.flatMap(({ path, runtime }) => (runtime === true ? [path] : []))]
}

const found = ['serve-dist-env.js', 'serve-dist-env.js']

describe.each(vites)('the environment of a build by $name', ({ build, watch }) => {
  test('is known to later processes, even if the folder was moved', async () => {
    const project = await createProject(site)
    await build(project, { plugins: [serveDist({ ...options, pass: false })] })
    const later = { root: project.root, cache: false }
    await finish(join(project.root, 'dist'), later)
    expect(await environmentIn(project)).toEqual(found)
    await rm(join(project.root, 'dist/.serve-dist/record.json'))
    await rm(join(project.root, 'node_modules'), { recursive: true })
    await rename(join(project.root, 'dist'), join(project.root, 'moved'))
    await finish(join(project.root, 'moved'), later)
    expect(await environmentIn(project, 'moved')).toEqual(found)
  })

  test('is in the record of a build with an integration', async () => {
    const project = await createProject(site)
    // Nuxt clones plugins like this.
    const plugins = recordingPlugins(options, 'astro').map((plugin) => Object.assign({}, plugin))
    await build(project, { plugins })
    await finish(join(project.root, 'dist'), { root: project.root, cache: false })
    expect(await environmentIn(project)).toEqual(found)
  })

  test('follows the imports of a watched build', async () => {
    const project = await createProject({ ...site, 'main.js': 'document.title = 1' })
    await watch(project, { plugins: [serveDist(options)], build: { minify: false } })
    const see = (expected: unknown[]): Promise<void> =>
      vi.waitFor(async () => expect(await environmentIn(project)).toEqual(expected), { timeout: 20_000 })
    await see([undefined])
    await project.write('main.js', site['main.js'])
    await see(found)
    await project.write('main.js', 'document.title = 2')
    await see([undefined])
  })

  test.each([
    ['https://cdn.example.org/env.js', 'https://cdn.example.org/env.js', '/app/serve-dist-env.js'],
    [{ relative: true }, '../serve-dist-env.js', './serve-dist-env.js'],
    [{ runtime: 'window.at' }, '../serve-dist-env.js', './serve-dist-env.js'],
    [undefined, '/app/serve-dist-env.js', '/app/serve-dist-env.js'],
  ])('uses the URL of renderBuiltUrl if it returns %j', async (rendered, imported, linked) => {
    const project = await createProject(site)
    const renderBuiltUrl = (path: string) => (path === 'serve-dist-env.js' ? rendered : undefined)
    const config = { base: '/app/', plugins: [serveDist(options)], experimental: { renderBuiltUrl } }
    await build(project, config)
    const script = (await project.list()).find((path) => /assets\/.*\.js$/.test(path))
    expect(await project.read(`dist/${script}`)).toMatch(new RegExp(`from\\s*["'\`]${imported}["'\`]`))
    expect(await project.read('dist/index.html')).toContain(`crossorigin href="${linked}"`)
  })
})

function onCdn(path: string, { hostType }: { readonly hostType: string }): string | { relative: boolean } {
  return hostType === 'html' ? `https://cdn.example.org/${path}` : { relative: true }
}

describe.each(vites)('the environment of a build by $name whose pages load files from a CDN', ({ build }) => {
  test("is redirected to the page's host by an import map", async () => {
    const project = await createProject(site)
    const experimental = { renderBuiltUrl: onCdn }
    await build(project, { plugins: [serveDist(options)], experimental })
    const page = await project.read('dist/index.html')
    expect(page).toContain('src="https://cdn.example.org/assets/')
    expect(page).toContain('{"imports":{"https://cdn.example.org/serve-dist-env.js":"/serve-dist-env.js"}}')
    expect(page).toContain('crossorigin href="/serve-dist-env.js"')
  })
})

async function valuesFrom(ask: Ask): Promise<unknown> {
  const { body } = await ask('/serve-dist-env.js')
  const [, text = '""'] = /JSON\.parse\((".*")\)/.exec(body.toString()) ?? []
  return JSON.parse(JSON.parse(text))
}

describe.each(vites)('a preview by $name of a build with an environment', ({ build, preview }) => {
  test("contains the values of .env files, with precedence for the process's environment", async () => {
    vi.stubEnv('SD_TEST_RELEASE', 'of the process')
    onTestFinished(() => void vi.unstubAllEnvs())
    const project = await createProject({
      ...site,
      '.env.production': 'SD_TEST_URL=/of-production\nSD_TEST_RELEASE=1',
    })
    const config = { plugins: [serveDist(options)] }
    await build(project, config)
    const ask = await preview(project, config)
    expect(await valuesFrom(ask)).toEqual({
      SD_TEST_URL: '/of-production',
      SD_TEST_RELEASE: 'of the process',
    })
  })

  test('warns about missing variables by name', async () => {
    const project = await createProject(site)
    const config = { plugins: [serveDist(options)] }
    await build(project, config)
    const ask = await preview(project, config)
    expect(await valuesFrom(ask)).toEqual({ SD_TEST_RELEASE: 'dev' })
    expect(project.logger.warnings.join('\n')).toMatch(/SD_TEST_URL: the build requires/)
  })
})
