import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { pendingPath } from '@serve-dist/precompress'
import type { Plugin } from 'vite'
import { describe, expect, test, vi } from 'vitest'
import { spawnCommand } from '../../server/test/support/spawn-command.ts'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { request } from './support/request.ts'
import { vites } from './support/vites.ts'

const patience = { timeout: 20_000, interval: 20 }

function lazyText(project: Project, text: string): Promise<void> {
  return project.write('lazy.js', `export default ${JSON.stringify(prose(text))}`)
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Expects that all files on the disk match the manifest. */
async function expectWhole(project: Project): Promise<void> {
  const { files } = await project.manifest()
  const onDisk = files.map(async ({ path }) => {
    const bytes = await readFile(join(project.root, 'dist', path))
    return { path, sha256: sha256(bytes) }
  })
  expect(await Promise.all(onDisk)).toEqual(files.map((file) => ({ path: file.path, sha256: file.sha256 })))
}

/** Waits for a manifest of a complete folder with this text. */
function described(project: Project, text: string): Promise<Manifest> {
  return vi.waitFor(async () => {
    const manifest = await project.manifest()
    const lazy = manifest.files.find(({ path }) => path.includes('/lazy-'))
    expect(await project.read(`dist/${lazy?.path}`)).toContain(`${text} 1`)
    await expectWhole(project)
    return manifest
  }, patience)
}

/** Delays the end of the first build until the next build has failed. */
function breakBetween(project: Project): Plugin {
  let isFirst = true
  return {
    name: 'break-between',
    async closeBundle() {
      if (!isFirst) return
      isFirst = false
      await project.write('lazy.js', 'export default (')
      await vi.waitUntil(() => project.logger.errors.length > 0, patience)
      await project.write('dist/late.txt', 'the manifest must contain this file')
    },
  }
}

/** Waits for a manifest that contains files written at the end of the first build. */
function lateFiles(project: Project): Promise<string[]> {
  return vi.waitFor(async () => {
    const paths = (await project.manifest()).files.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'late.txt']))
    await expectWhole(project)
    return paths
  }, patience)
}

describe.each(vites)('serveDist in watch mode with $name', ({ name: viteName, build, watch }) => {
  test('writes a manifest without variants for each successful build, and reports this once', async () => {
    const project = await createProject(application)
    await watch(project)
    const first = await described(project, 'lazy')
    expect(first).toMatchObject({ base: '/', appType: 'spa', assetsDirectory: 'assets' })

    await lazyText(project, 'second')
    const second = await described(project, 'second')
    expect(second.files.filter(({ cache }) => cache === 'immutable')).toHaveLength(3)
    expect(second.files.flatMap(({ variants }) => variants)).toEqual([])

    await project.write('lazy.js', 'export default (')
    await vi.waitUntil(() => project.logger.errors.length > 0, patience)
    await lazyText(project, 'third')
    await described(project, 'third')
    expect(project.logger.infos.filter((line) => line.includes('without variants'))).toHaveLength(1)
  })

  test('removes the variants of the earlier build', async () => {
    const project = await createProject(application)
    const config = { build: { emptyOutDir: false } }
    await build(project, config)
    expect((await project.list()).filter((name) => name.endsWith('.br')).length).toBeGreaterThan(0)
    await watch(project, config)
    await vi.waitFor(async () => {
      expect((await project.list()).filter((name) => /\.(br|gz|zst)$/.test(name))).toEqual([])
      await expectWhole(project)
    }, patience)
  })

  test('works with a server that watches the folder', async () => {
    const project = await createProject(application)
    await watch(project)
    await described(project, 'lazy')
    const server = spawnCommand([join(project.root, 'dist'), '--watch', '--port', '0'])
    const { port } = await server.listening
    const served = async (text: string) => {
      const { files } = await described(project, text)
      const path = files.find((file) => file.path.includes('/lazy-'))?.path
      return await vi.waitFor(async () => {
        const answer = await request(port, `/${path}`)
        expect(answer.body.toString()).toContain(`${text} 1`)
        return answer
      }, patience)
    }
    await served('lazy')
    await lazyText(project, 'second')
    const { fields } = await served('second')
    expect(fields['cache-control']).toBe('public, max-age=31536000, immutable')
    server.child.kill()
    expect((await server.exited).code).toBe(0)
  })

  test('ends with the last of several fast builds', async () => {
    const project = await createProject(application)
    await watch(project, { build: { minify: false } })
    await described(project, 'lazy')
    for (const text of ['one', 'two', 'three']) {
      await lazyText(project, text)
      const built = async () => {
        const names = await project.list().catch(() => [])
        const lazy = names.find((name) => /lazy-[^.]*\.js$/.test(name)) ?? 'none'
        return (await project.read(`dist/${lazy}`).catch(() => '')).includes(`${text} 1`)
      }
      await vi.waitUntil(built, patience)
    }
    await described(project, 'three')
    expect(project.logger.errors).toEqual([])
  })

  test('describes files that plugins write at the end of a build that closes before the earlier one', async () => {
    const project = await createProject(application)
    let closed = 0
    const late: Plugin = {
      name: 'late',
      async closeBundle() {
        closed += 1
        if (closed === 1) {
          await lazyText(project, 'second')
          await vi.waitUntil(() => closed > 1, patience)
          return
        }
        await project.write('dist/late.txt', prose(`late ${closed}`))
      },
    }
    await watch(project, { plugins: [late, serveDist()] })
    await vi.waitFor(async () => {
      expect(Object.keys(await project.classes())).toContain('late.txt')
      await expectWhole(project)
    }, patience)
  })

  test('reports a manifest that it cannot write, and continues', async () => {
    const project = await createProject(application)
    let isBlocked = true
    const blocker: Plugin = {
      name: 'blocker',
      async closeBundle() {
        if (!isBlocked) return
        await rm(join(project.root, 'dist/.serve-dist'), { recursive: true })
        await project.write('dist/.serve-dist', 'a file that blocks the folder')
      },
    }
    await watch(project, { plugins: [blocker, serveDist()] })
    await vi.waitUntil(() => project.logger.errors.length > 0, patience)
    expect(project.logger.errors[0]).toContain('.serve-dist')
    isBlocked = false
    await lazyText(project, 'fixed')
    await described(project, 'fixed')
  })

  describe('a build whose successor fails before it closes', () => {
    test('gets its manifest', async () => {
      const project = await createProject(application)
      const plugins = [breakBetween(project), serveDist()]
      await watch(project, { plugins, build: { emptyOutDir: false } })
      expect(await lateFiles(project)).toContain('late.txt')
    })

    // After a failure in buildEnd, Rolldown calls no further plugins.
    test.skipIf(viteName === 'Vite 8')('gets it even if a plugin fails in buildEnd', async () => {
      const project = await createProject(application)
      const failing: Plugin = {
        name: 'failing',
        buildEnd(error) {
          if (error !== undefined) throw new Error('broken on purpose')
        },
      }
      const plugins = [breakBetween(project), failing, serveDist()]
      await watch(project, { plugins, build: { emptyOutDir: false } })
      expect(await lateFiles(project)).toContain('late.txt')
    })

    test('is complete, or is rejected with a warning if Vite has already emptied the folder', async () => {
      const project = await createProject({ ...application, 'public/robots.txt': 'nothing' })
      const plugins = [breakBetween(project), serveDist()]
      await watch(project, { plugins })
      const told = `the server rejects ${join(project.root, 'dist')}`
      const isTold = () => project.logger.warnings.some((line) => line.includes(told))
      const isEmptied = viteName === 'Vite 6'
      await vi.waitFor(async () => {
        expect(isTold()).toBe(isEmptied)
        const state = (await project.list('dist/.serve-dist')).filter((name) => name !== 'record.json')
        expect(state).toEqual([isEmptied ? 'pending.json' : 'manifest.json'])
      }, patience)
      await lazyText(project, 'fixed')
      await vi.waitFor(async () => {
        expect(Object.keys(await project.classes())).toContain('index.html')
        await expectWhole(project)
      }, patience)
    })
  })

  test('warns that the server rejects the folder if a build fails while it renders', async () => {
    const project = await createProject(application)
    let isBroken = false
    const breaker: Plugin = {
      name: 'breaker',
      renderChunk() {
        if (isBroken) throw new Error('broken on purpose')
      },
    }
    await watch(project, { plugins: [breaker, serveDist()] })
    await described(project, 'lazy')
    isBroken = true
    await lazyText(project, 'second')
    await vi.waitUntil(() => project.logger.errors.length > 0, patience)
    const folder = join(project.root, 'dist')
    await vi.waitUntil(
      () => project.logger.warnings.some((line) => line.includes(`the server rejects ${folder}`)),
      patience,
    )
    await vi.waitFor(
      async () => expect(await project.list()).toEqual([pendingPath, '.serve-dist/record.json']),
      patience,
    )
    isBroken = false
    await lazyText(project, 'fixed')
    await vi.waitFor(async () => {
      expect(Object.keys(await project.classes())).toContain('index.html')
      await expectWhole(project)
    }, patience)
  })
})
