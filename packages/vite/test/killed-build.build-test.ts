import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finish } from '@serve-dist/precompress'
import { loadSite } from '@serve-dist/server'
import type { BuildOptions, Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

/** Copies the folder after all plugins have run in each of these hooks, as a kill would leave it. */
function photographer(project: Project): Plugin {
  let shots = 0
  const take = (hook: string) => async () => {
    shots += 1
    await cp(join(project.root, 'dist'), join(project.root, `killed/${shots}-${hook}`), { recursive: true })
  }
  const late = (hook: string) => ({ order: 'post', sequential: true, handler: take(hook) }) as const
  return {
    name: 'photographer',
    enforce: 'post',
    renderStart: late('renderStart'),
    generateBundle: late('generateBundle'),
    writeBundle: late('writeBundle'),
    closeBundle: take('closeBundle'),
  }
}

function failing(hook: string): Plugin {
  return {
    name: 'failing',
    [hook]: () => {
      throw new Error('broken on purpose')
    },
  }
}

/** Fails before the hook of serveDist. With Vite 8, also before the folder is emptied. */
const failingFirst: Plugin = {
  name: 'failing',
  renderStart: {
    order: 'pre',
    handler: () => {
      throw new Error('broken on purpose')
    },
  },
}

const emptied: BuildOptions = {}
const kept: BuildOptions = { emptyOutDir: false }
const twoFolders = (project: Project): BuildOptions => ({
  rollupOptions: {
    output: [{ dir: join(project.root, 'dist/a') }, { dir: join(project.root, 'dist/b') }],
  },
})

describe.each(vites)('a build that is killed with $name', ({ build }) => {
  test.each([
    ['that is emptied', emptied],
    ['that is not', kept],
  ])('before its compression is rejected by the server, in a folder %s', async (_name, options) => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    const camera = photographer(project)
    const config = () => ({ plugins: [camera, serveDist()], build: { ...options } })
    for (const text of ['first', 'second']) {
      await project.write('lazy.js', `export default ${JSON.stringify(prose(text))}`)
      await build(project, config())
      await expect(loadSite(join(project.root, 'dist'))).resolves.toMatchObject({ base: '/' })
      expect((await project.list()).filter((name) => name.startsWith('.'))).toEqual([
        '.serve-dist/manifest.json',
        '.serve-dist/record.json',
      ])
    }
    const killed = await readdir(join(project.root, 'killed'))
    expect(killed).toHaveLength(8)
    for (const folder of killed) {
      await expect(loadSite(join(project.root, 'killed', folder))).rejects.toThrow(
        `${folder}: the last build`,
      )
    }
  })

  test('records for a later compression how to serve the folder', async () => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    const plugins = [photographer(project), serveDist({ exclude: ['words.txt'] })]
    await build(project, { plugins, base: '/app/' })
    // Remove the cache, as on another machine.
    await rm(join(project.root, 'node_modules'), { recursive: true, maxRetries: 5 })
    const killed = await readdir(join(project.root, 'killed'))
    expect(killed).toHaveLength(4)
    for (const folder of killed) {
      const { manifest } = await finish(join(project.root, 'killed', folder), { root: project.root })
      expect(manifest).toMatchObject({ base: '/app/', selection: { exclude: ['words.txt'] } })
      expect(manifest.files.map(({ path }) => path)).not.toContain('words.txt')
    }
  })

  test('leaves no folder of several outputs that the server accepts', async () => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    const plugins = [photographer(project), serveDist()]
    await build(project, { plugins, build: twoFolders(project) })
    for (const shot of await readdir(join(project.root, 'killed'))) {
      for (const output of await readdir(join(project.root, 'killed', shot))) {
        const folder = join(project.root, 'killed', shot, output)
        await expect(loadSite(folder)).rejects.toThrow('did not finish')
      }
    }
    for (const output of ['a', 'b']) {
      await expect(loadSite(join(project.root, 'dist', output))).resolves.toMatchObject({ base: '/' })
    }
    // No output has this folder.
    expect(await readdir(join(project.root, 'dist'))).toEqual(['a', 'b'])
  })
})

describe.each(vites)('a build that fails with $name', ({ build }) => {
  test('before it writes keeps the folder unchanged', async () => {
    const project = await createProject({
      ...application,
      'dist/index.html': prose('written by another program'),
    })
    const built = build(project, { plugins: [serveDist(), failing('transform')] })
    await expect(built).rejects.toThrow('broken on purpose')
    expect(await project.list()).toEqual(['index.html'])
    await expect(loadSite(join(project.root, 'dist'))).resolves.toMatchObject({ base: '/' })
  })

  test.each([
    ['renderStart', failingFirst],
    ['renderChunk', failing('renderChunk')],
    ['writeBundle', failing('writeBundle')],
  ])('in %s warns that the server rejects the folder', async (_hook, breaker) => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    await expect(build(project, { plugins: [serveDist(), breaker] })).rejects.toThrow('broken on purpose')
    expect(project.logger.warnings.join('\n')).toContain(`the server rejects ${join(project.root, 'dist')}`)
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('did not finish')
    await build(project)
    await expect(loadSite(join(project.root, 'dist'))).resolves.toMatchObject({ base: '/' })
  })

  test('reports that failure even if it cannot mark its folder', async () => {
    const project = await createProject(application)
    const breaker: Plugin = {
      name: 'failing',
      renderStart: {
        order: 'pre',
        async handler() {
          await rm(join(project.root, 'dist/.serve-dist'), { recursive: true, force: true })
          await project.write('dist/.serve-dist', 'a file that blocks the folder')
          throw new Error('broken on purpose')
        },
      },
    }
    const built = build(project, { plugins: [serveDist(), breaker] })
    await expect(built).rejects.toThrow('broken on purpose')
    expect(project.logger.warnings.join('\n')).toContain('.serve-dist')
  })
})
