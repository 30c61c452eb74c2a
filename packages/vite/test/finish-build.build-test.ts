import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { loadSite } from '@serve-dist/server'
import { describe, expect, test } from 'vitest'
import { finishBuild } from '../src/compression/finish-build.ts'
import { recordingPlugins } from '../src/plugin.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

/** Ends a build like frameworks: copies the client's visible files and adds a page. */
async function deploy(project: Project): Promise<void> {
  await cp(join(project.root, 'dist'), join(project.root, 'out'), { recursive: true, filter: isVisible })
  await project.write('out/about/index.html', `<!doctype html><p>${prose('about')}`)
}

function isVisible(path: string): boolean {
  return !path.includes('.serve-dist')
}

describe.each(vites)('finishBuild after a build by $name', ({ build }) => {
  test('describes and compresses the final folder, with the facts of the bundler', async () => {
    const project = await createProject(application)
    const options = { codings: ['br'], serving: { securityHeaders: true } } as const
    await build(project, { plugins: recordingPlugins(options, 'astro'), base: '/docs/', appType: 'mpa' })
    await expect(project.manifest()).rejects.toThrow('ENOENT')
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('ended without its compression')
    expect(project.logger.warnings).toEqual([])

    await deploy(project)
    const framework = { folder: 'out', root: project.root, options, log: project.logger }
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
    expect(project.logger.infos.filter((line) => /\d variants\b.* in /.test(line))).toHaveLength(1)
    await finishBuild({ ...framework, appType: 'spa', promises: ['about/**'] })
    expect(await project.manifest('out')).toMatchObject({ appType: 'spa' })
    expect((await project.classes('out'))['about/index.html']).toBe('immutable')
  })

  test('applies the promises of a framework when there is another build for browsers', async () => {
    const project = await createProject(application)
    const [plugins, other] = [recordingPlugins({}, 'astro'), recordingPlugins({})]
    await build(project, { plugins, build: { assetsDir: '_astro' } })
    await build(project, { plugins: other, build: { outDir: 'admin' } })
    await deploy(project)
    const { root, logger: log } = project
    const promises = ['about/**']
    await finishBuild({ folder: 'out', root, options: {}, promises, log })
    expect((await project.classes('out'))['about/index.html']).toBe('immutable')
  })

  test('fails if the folder exceeds its budget, and writes nothing with `pass: false`', async () => {
    const project = await createProject({ 'out/index.html': prose('page') })
    const finished = {
      folder: join(project.root, 'out'),
      root: project.root,
      log: project.logger,
    }
    await finishBuild({ ...finished, options: { pass: false } })
    expect(await project.list('out')).toEqual(['index.html'])
    await expect(finishBuild({ ...finished, options: { budgets: ['total=1:br'] } })).rejects.toThrow(
      'This build exceeds its budgets',
    )
  })
})
