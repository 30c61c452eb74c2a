import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { manifestPath, variantPath } from '@serve-dist/manifest'
import type { Plugin } from 'vite'
import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { createRecordingLogger } from './support/recording-logger.ts'
import { vites } from './support/vites.ts'

/** Writes into the build after all outputs, as generators of service workers do. */
function lateWriter(project: Project, path: string, order?: 'post'): Plugin {
  const handler = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    await project.write(`dist/${path}`, prose(path))
    await writeFile(join(project.root, 'dist/index.html'), `<!doctype html>${prose('rewritten')}`)
  }
  return {
    name: `writer-of-${path}`,
    closeBundle: order === undefined ? handler : { order, sequential: true, handler },
  }
}

describe.each(vites)('the compression of serveDist with $name', ({ build }) => {
  test('runs after plugins that finish in closeBundle, in any order', async () => {
    const project = await createProject(application)
    const plugins = [
      lateWriter(project, 'first.js', 'post'),
      serveDist(),
      lateWriter(project, 'second.js'),
      { ...lateWriter(project, 'third.js'), enforce: 'post' as const },
    ]
    await build(project, { plugins })
    const { files } = await project.manifest()
    for (const path of ['first.js', 'index.html', 'second.js', 'third.js']) {
      const bytes = await readFile(join(project.root, 'dist', path))
      expect(files.find((file) => file.path === path)).toMatchObject({
        cache: 'revalidate',
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      })
    }
    expect(project.logger.warnings).toEqual([])
  })

  test('names a plugin that finishes later', async () => {
    const project = await createProject(application)
    const late = { ...lateWriter(project, 'late.js', 'post'), enforce: 'post' as const }
    await build(project, { plugins: [serveDist(), late] })
    expect(project.logger.warnings).toEqual([
      expect.stringContaining('"writer-of-late.js" runs after serveDist()'),
    ])
  })

  test('runs once if the plugin is in the configuration twice', async () => {
    const project = await createProject(application)
    const logger = createRecordingLogger()
    const plugins = [serveDist({ codings: ['br'] }), serveDist({ codings: ['gzip'] })]
    await build(project, { plugins, customLogger: logger })
    expect(logger.warnings).toEqual([expect.stringContaining('more than once')])
    const names = await project.list()
    expect(names.filter((name) => name.endsWith('.br')).length).toBeGreaterThan(0)
    expect(names.filter((name) => name.endsWith('.gz'))).toEqual([])
    expect(Object.values(await project.classes())).toContain('immutable')

    // Frameworks build a project several times with separate loggers.
    const second = createRecordingLogger()
    await build(project, { plugins, customLogger: second })
    expect(second.warnings).toEqual([])
  })
})

describe.each(vites)('a build that fails with $name', ({ build }) => {
  const failures: Record<string, Plugin> = {
    transform: {
      name: 'failing',
      transform() {
        throw new Error('broken on purpose')
      },
    },
    renderChunk: {
      name: 'failing',
      renderChunk() {
        throw new Error('broken on purpose')
      },
    },
    writeBundle: {
      name: 'failing',
      writeBundle() {
        throw new Error('broken on purpose')
      },
    },
    'an earlier closeBundle': {
      name: 'failing',
      closeBundle() {
        throw new Error('broken on purpose')
      },
    },
  }

  test.each(Object.keys(failures))('in %s leaves no manifest and no variant', async (hook) => {
    const project = await createProject({ ...application, 'dist/old.txt': 'old' })
    const config = { plugins: [serveDist(), failures[hook]], build: { emptyOutDir: false } }
    await expect(build(project, config)).rejects.toThrow('broken on purpose')
    const names = await project.list()
    expect(names.filter((name) => /\.(br|gz|zst)$|manifest\.json$/.test(name))).toEqual([])
  })

  // Vite copies public files during the transformation of modules. After that, an earlier manifest would be wrong.
  test.each([
    ['transform', true],
    ['buildEnd', true],
    ['generateBundle', false],
  ] as const)('in %s over an earlier build keeps its manifest: %s', async (hook, isKept) => {
    const project = await createProject({ ...application, 'public/words.txt': prose('words') })
    await build(project, { build: { emptyOutDir: false } })
    await project.write('public/words.txt', prose('other words'))
    const failing: Plugin = {
      name: 'failing',
      [hook]: async () => {
        // Wait long enough for concurrent changes.
        for (let look = 0; look < 50 && (await project.list()).includes(manifestPath); look += 1);
        throw new Error('broken on purpose')
      },
    }
    await expect(
      build(project, { plugins: [serveDist(), failing], build: { emptyOutDir: false } }),
    ).rejects.toThrow('broken on purpose')
    expect((await project.list()).includes(manifestPath)).toBe(isKept)

    await build(project, { build: { emptyOutDir: false } })
    const names = await project.list()
    const { files } = await project.manifest()
    expect(names.filter((name) => /\.(br|gz|zst)$/.test(name)).toSorted()).toEqual(
      files.flatMap((file) => file.variants.map(({ coding }) => variantPath(file.path, coding))).toSorted(),
    )
  })

  test.each([
    ['two folders', 'pre', ['a', 'b']],
    ['two folders', 'post', ['a', 'b']],
    ['one folder', 'pre', ['.', '.']],
  ] as const)(
    'in the second of two outputs into %s (%s) leaves no manifest',
    async (_name, order, folders) => {
      const project = await createProject({ ...application, 'dist/old.txt': 'old' })
      let outputs = 0
      const second: Plugin = {
        name: 'failing',
        renderStart: {
          order,
          handler() {
            outputs += 1
            if (outputs === 2) throw new Error('broken on purpose')
          },
        },
      }
      const output = folders.map((folder, index) => ({
        dir: join(project.root, 'dist', folder),
        entryFileNames: `entry-${index}-[hash].js`,
      }))
      const config = { plugins: [serveDist(), second], build: { rollupOptions: { output } } }
      await expect(build(project, config)).rejects.toThrow('broken on purpose')
      expect((await project.list()).filter((name) => name.includes('manifest.json'))).toEqual([])
    },
  )

  test('in the compression names the file', async () => {
    const project = await createProject(application)
    const blocker: Plugin = {
      name: 'blocker',
      async closeBundle() {
        await rm(join(project.root, 'dist/.serve-dist'), { recursive: true })
        await project.write('dist/.serve-dist', 'a file that blocks the folder')
      },
    }
    const built = build(project, { plugins: [blocker, serveDist()] })
    await expect(built).rejects.toThrow(/dist: cannot write to this folder .*\.serve-dist/)
    // Print the error like Vite 8.
    const printed = inspect(await built.catch((error: unknown) => error))
    expect(printed.match(/cannot write to this folder/g)).toHaveLength(1)
    expect(printed).not.toMatch(/^ +at /m)
    expect((await project.list()).filter((name) => name.endsWith('.br'))).toEqual([])
  })
})
