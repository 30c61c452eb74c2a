import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { loadSite } from '@serve-dist/server'
import { describe, expect, test } from 'vitest'
import { finishBuild } from '../src/pass/finish-build.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { createRecordingLogger } from './support/recording-logger.ts'
import { vites } from './support/vites.ts'

/** As frameworks end a build: copies the client's files, without hidden ones, and adds a page. */
async function deploy(project: Project): Promise<void> {
  await cp(join(project.root, 'dist'), join(project.root, 'out'), { recursive: true, filter: isVisible })
  await project.write('out/about/index.html', `<!doctype html><p>${prose('about')}`)
}

function isVisible(path: string): boolean {
  return !path.includes('.serve-dist')
}

describe.each(vites)('finishBuild after a build by $name', ({ load }) => {
  test('describes and compresses the final folder, by what the bundler knew', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    const options = { codings: ['br'], serving: { securityHeaders: true } } as const
    await build(
      project.config({
        plugins: recordingPlugins(options, 'astro'),
        base: '/docs/',
        appType: 'mpa',
        customLogger: logger,
      }),
    )
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('ended without its compression')
    expect(logger.warnings).toEqual([])

    await deploy(project)
    const framework = { folder: 'out', root: project.root, framework: 'astro', options, log: logger }
    await finishBuild(framework)
    const { files, ...manifest } = await project.manifest('out')
    expect(manifest).toMatchObject({ base: '/docs/', appType: 'mpa', serving: options.serving })
    const hashed = files.filter(({ cache }) => cache === 'immutable')
    expect(hashed.map(({ stem = '' }) => stem).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'assets/index-[hash].css',
      'assets/index-[hash].js',
      'assets/lazy-[hash].js',
    ])
    expect(files.find(({ path }) => path === 'about/index.html')?.variants).toHaveLength(1)
    expect(logger.infos.filter((line) => line.includes('variants ('))).toHaveLength(1)
    await finishBuild({ ...framework, appType: 'spa', promises: ['about/**'] })
    expect(await project.manifest('out')).toMatchObject({ appType: 'spa' })
    expect((await project.classes('out'))['about/index.html']).toBe('immutable')
  })

  test('keeps what a framework promises of its names beside another build for browsers', async () => {
    const { build } = await load()
    const project = await createProject(application)
    const [plugins, other] = [recordingPlugins({}, 'astro'), recordingPlugins({})]
    await build(project.config({ plugins, build: { assetsDir: '_astro' } }))
    await build(project.config({ plugins: other, build: { outDir: 'admin' } }))
    await deploy(project)
    const log = createRecordingLogger()
    const promises = ['about/**']
    await finishBuild({ folder: 'out', root: project.root, options: {}, framework: 'astro', promises, log })
    expect((await project.classes('out'))['about/index.html']).toBe('immutable')
  })

  test('fails where the folder is over its budget, and makes nothing with `pass: false`', async () => {
    const project = await createProject({ 'out/index.html': prose('page') })
    const logger = createRecordingLogger()
    const build = { folder: join(project.root, 'out'), root: project.root, framework: 'nuxt', log: logger }
    await finishBuild({ ...build, options: { pass: false } })
    expect(await project.list('out')).toEqual(['index.html'])
    await expect(finishBuild({ ...build, options: { budgets: ['total=1:br'] } })).rejects.toThrow(
      'weighs more than its budgets allow',
    )
  })
})
