import { cp, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { loadSite } from '@serve-dist/server'
import type { EnvironmentOptions, InlineConfig, Plugin, PluginOption, ViteBuilder } from 'vite'
import { describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

function environment(outDir: string, input: string): EnvironmentOptions {
  return { build: { outDir, emptyOutDir: false, rollupOptions: { input } } }
}

/** Writes a page into the client's folder after the server's bundle is written, as frameworks prerender. */
function prerender(project: Project, order?: 'post'): Plugin {
  const handler = async () => {
    const names = await project.list('dist/client')
    const script = names.find((name) => /assets\/index-.*\.js$/.test(name))
    await project.write(
      'dist/client/about.html',
      `<!doctype html><script type="module" src="/${script}"></script><p>${prose('about')}`,
    )
  }
  if (order === 'post') return { name: 'prerender', buildApp: { order, handler } }
  return { name: 'prerender', applyToEnvironment: ({ name }) => name === 'ssr', closeBundle: handler }
}

function appConfig(project: Project, plugins: PluginOption[], more: InlineConfig = {}): InlineConfig {
  return {
    plugins,
    builder: {},
    environments: {
      client: environment('dist/client', join(project.root, 'index.html')),
      ssr: environment('dist/server', join(project.root, 'server.js')),
    },
    ...more,
  }
}

async function buildAll(app: ViteBuilder): Promise<void> {
  for (const one of Object.values(app.environments)) await app.build(one)
}

const files = {
  ...application,
  'server.js': `export default ${JSON.stringify(prose('server'))}`,
  'dist/client/old.txt': prose('old'),
}

describe.each(vites.filter(({ name }) => name !== 'Vite 6'))(
  'an application built by $name',
  ({ build, buildApp }) => {
    test.each([
      ['another environment', undefined],
      ['a later step of the application', 'post' as const],
    ])('describes the pages that %s prerendered', async (_, order) => {
      const project = await createProject(files)
      const plugins = [prerender(project, order), serveDist()]
      const builder = order === 'post' ? { builder: { buildApp: buildAll } } : {}
      const config = appConfig(project, plugins, { ...builder })
      await buildApp(project, config)

      const manifest = await project.manifest('dist/client')
      const about = manifest.files.find(({ path }) => path === 'about.html')
      expect(about?.variants.length).toBeGreaterThan(0)
      expect(about?.links?.map(({ rel }) => rel)).toEqual(['preload', 'modulepreload'])
      const classes = Object.values(await project.classes('dist/client'))
      expect(classes.filter((cache) => cache === 'immutable')).toHaveLength(3)
      expect(project.logger.infos.filter((line) => /\d variants\b.* in /.test(line))).toHaveLength(1)
      expect(project.logger.warnings).toEqual([])
    })

    test('compresses and reports once if nothing is written later', async () => {
      const project = await createProject(files)
      await buildApp(project, appConfig(project, [serveDist()]))
      expect(project.logger.infos.filter((line) => /\d variants\b.* in /.test(line))).toHaveLength(1)
      expect(project.logger.infos.filter((line) => line.includes('nothing changed'))).toEqual([])
    })

    test('warns once about problems of the compression', async () => {
      const project = await createProject(files)
      await symlink('nowhere', join(project.root, 'dist/client/broken.txt'))
      const plugins = [prerender(project), serveDist()]
      await buildApp(project, appConfig(project, plugins))
      expect(project.logger.warnings).toEqual([expect.stringContaining('broken.txt')])
    })

    test('recognizes all hashed names in a folder that environments share', async () => {
      const project = await createProject({
        ...files,
        'widget.js': `console.log(${JSON.stringify(prose('w'))})`,
      })
      await buildApp(
        project,
        appConfig(project, [serveDist()], {
          environments: {
            client: environment('dist/client', join(project.root, 'index.html')),
            widget: { ...environment('dist/client', join(project.root, 'widget.js')), consumer: 'client' },
          },
        }),
      )
      const classes = await project.classes('dist/client')
      const assets = Object.keys(classes).filter((path) => path.startsWith('assets/'))
      expect(assets).toHaveLength(4)
      expect(assets.map((path) => classes[path])).toEqual(assets.map(() => 'immutable'))
    })

    test('works if each environment has its own plugin instances', async () => {
      const configFile = 'export default () => ({ plugins: globalThis.pluginsOfThisTest() })'
      const project = await createProject({ ...files, 'vite.config.mjs': configFile })
      const instances: PluginOption[] = []
      Reflect.set(globalThis, 'pluginsOfThisTest', () => {
        const instance = serveDist()
        instances.push(instance)
        return [prerender(project), instance]
      })
      onTestFinished(() => void Reflect.deleteProperty(globalThis, 'pluginsOfThisTest'))
      const config = appConfig(project, [], { configFile: join(project.root, 'vite.config.mjs') })
      await buildApp(project, config)
      expect(instances.length).toBeGreaterThan(1)
      expect((await project.classes('dist/client'))['about.html']).toBe('revalidate')
      const bytes = await readFile(join(project.root, 'dist/client/about.html'))
      const about = (await project.manifest('dist/client')).files.find(({ path }) => path === 'about.html')
      expect(about?.size).toBe(bytes.length)
    })

    test('marks the folder if a later environment fails', async () => {
      const project = await createProject({ ...files, 'server.js': 'export default (' })
      const built = buildApp(project, appConfig(project, [serveDist()]))
      await expect(built).rejects.toThrow(/server\.js/)
      await expect(loadSite(join(project.root, 'dist/client'))).rejects.toThrow(
        'if the build failed, build again',
      )
    })

    test('compresses if a program builds only one environment', async () => {
      const project = await createProject(files)
      await build(project, appConfig(project, [serveDist()]))
      expect(Object.values(await project.classes('dist/client'))).toContain('immutable')
    })

    test('marks a hashed file as immutable if a plugin copied it from another environment', async () => {
      const project = await createProject({
        ...files,
        'server.js': `import url from './server.svg?no-inline'; export default url`,
        'server.svg': `<svg xmlns="http://www.w3.org/2000/svg"><title>${prose('server')}</title></svg>`,
      })
      const copy: Plugin = {
        name: 'copy-assets',
        applyToEnvironment: ({ name }) => name === 'ssr',
        closeBundle: () =>
          cp(join(project.root, 'dist/server/assets'), join(project.root, 'dist/client/assets'), {
            recursive: true,
          }),
      }
      const config = appConfig(project, [copy, serveDist()])
      const ssr = { ...environment('dist/server', join(project.root, 'server.js')) }
      Object.assign(config.environments ?? {}, { ssr: { build: { ...ssr.build, emitAssets: true } } })
      await buildApp(project, config)
      const { files: described } = await project.manifest('dist/client')
      const image = described.find(({ path }) => path.endsWith('.svg'))
      expect(image).toMatchObject({ cache: 'immutable', stem: 'assets/server-[hash].svg' })
    })
  },
)

describe.each(vites.filter(({ name }) => name === 'Vite 6'))(
  'an application built by $name',
  ({ buildApp }) => {
    test('describes the pages that the end of another environment prerendered', async () => {
      const project = await createProject(files)
      const config = appConfig(project, [prerender(project), serveDist()], {
        builder: { buildApp: buildAll },
      })
      await buildApp(project, config)
      const manifest = await project.manifest('dist/client')
      const about = manifest.files.find(({ path }) => path === 'about.html')
      expect(about?.variants.length).toBeGreaterThan(0)
    })
  },
)
