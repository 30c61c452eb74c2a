import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finish } from '@serve-dist/precompress'
import { loadSite } from '@serve-dist/server'
import type { BuildOptions, Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

/** Keeps what a kill would leave on the disk, once other plugins are through with each of these hooks. */
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

/** Before ours has its turn; of Vite 8, before the folder is emptied as well. */
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
  ])('before its pass is refused by the server, in a folder %s', async (_name, options) => {
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

  test('says how the folder is served to who compresses what is there', async () => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    const plugins = [photographer(project), serveDist({ exclude: ['words.txt'] })]
    await build(project, { plugins, base: '/app/' })
    // As where nobody has built before.
    await rm(join(project.root, 'node_modules'), { recursive: true, maxRetries: 5 })
    const killed = await readdir(join(project.root, 'killed'))
    expect(killed).toHaveLength(4)
    for (const folder of killed) {
      const { manifest } = await finish(join(project.root, 'killed', folder), { root: project.root })
      expect(manifest).toMatchObject({ base: '/app/', selection: { exclude: ['words.txt'] } })
      expect(manifest.files.map(({ path }) => path)).not.toContain('words.txt')
    }
  })

  test('leaves no folder of several outputs that is served', async () => {
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
    // No output went there.
    expect(await readdir(join(project.root, 'dist'))).toEqual(['a', 'b'])
  })
})

describe.each(vites)('a build that fails with $name', ({ build }) => {
  test('before it writes keeps the folder as it was', async () => {
    const project = await createProject({ ...application, 'dist/index.html': prose('of somebody else') })
    const built = build(project, { plugins: [serveDist(), failing('transform')] })
    await expect(built).rejects.toThrow('broken on purpose')
    expect(await project.list()).toEqual(['index.html'])
    await expect(loadSite(join(project.root, 'dist'))).resolves.toMatchObject({ base: '/' })
  })

  test.each([
    ['renderStart', failingFirst],
    ['renderChunk', failing('renderChunk')],
    ['writeBundle', failing('writeBundle')],
  ])('in %s says that the folder is not served any more', async (_hook, breaker) => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    await expect(build(project, { plugins: [serveDist(), breaker] })).rejects.toThrow('broken on purpose')
    expect(project.logger.warnings.join('\n')).toContain(`${join(project.root, 'dist')} is not served until`)
    await expect(loadSite(join(project.root, 'dist'))).rejects.toThrow('did not finish')
    await build(project)
    await expect(loadSite(join(project.root, 'dist'))).resolves.toMatchObject({ base: '/' })
  })

  test('is told of that failure also where its folder cannot be marked', async () => {
    const project = await createProject(application)
    const breaker: Plugin = {
      name: 'failing',
      renderStart: {
        order: 'pre',
        async handler() {
          await rm(join(project.root, 'dist/.serve-dist'), { recursive: true, force: true })
          await project.write('dist/.serve-dist', 'a file in the place of the folder')
          throw new Error('broken on purpose')
        },
      },
    }
    const built = build(project, { plugins: [serveDist(), breaker] })
    await expect(built).rejects.toThrow('broken on purpose')
    expect(project.logger.warnings.join('\n')).toContain('.serve-dist')
  })
})
