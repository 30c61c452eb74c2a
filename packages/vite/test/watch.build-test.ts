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

/** Every file on the disk is the one in the manifest. */
async function expectWhole(project: Project): Promise<void> {
  const { files } = await project.manifest()
  const onDisk = files.map(async ({ path }) => {
    const bytes = await readFile(join(project.root, 'dist', path))
    return { path, sha256: sha256(bytes) }
  })
  expect(await Promise.all(onDisk)).toEqual(files.map((file) => ({ path: file.path, sha256: file.sha256 })))
}

/** Waits for a whole manifest of a folder that a build has written this text into. */
function described(project: Project, text: string): Promise<Manifest> {
  return vi.waitFor(async () => {
    const manifest = await project.manifest()
    const lazy = manifest.files.find(({ path }) => path.includes('/lazy-'))
    expect(await project.read(`dist/${lazy?.path}`)).toContain(`${text} 1`)
    await expectWhole(project)
    return manifest
  }, patience)
}

/** Holds the first build between its output and its end, until the next one has failed. */
function breakBetween(project: Project): Plugin {
  let isFirst = true
  return {
    name: 'break-between',
    async closeBundle() {
      if (!isFirst) return
      isFirst = false
      await project.write('lazy.js', 'export default (')
      await vi.waitUntil(() => project.logger.errors.length > 0, patience)
      await project.write('dist/late.txt', 'what the manifest has to wait for')
    },
  }
}

/** Waits for a whole manifest with what was written between the output of the first build and its end. */
function lateFiles(project: Project): Promise<string[]> {
  return vi.waitFor(async () => {
    const paths = (await project.manifest()).files.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'late.txt']))
    await expectWhole(project)
    return paths
  }, patience)
}

describe.each(vites)('serveDist watching with $name', ({ name: viteName, build, watch }) => {
  test('gives each build that succeeds a whole manifest without variants, and says so once', async () => {
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
    expect(project.logger.infos.filter((line) => line.includes('without compressed variants'))).toHaveLength(
      1,
    )
  })

  test('takes away the variants of the build before', async () => {
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

  test('is followed by a server that watches the folder', async () => {
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

  test('ends with the last build when builds follow fast', async () => {
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

  test('describes what plugins write at the end of a build that is closed before the one before', async () => {
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

  test('reports a manifest that cannot be written, and goes on', async () => {
    const project = await createProject(application)
    let isBlocked = true
    const blocker: Plugin = {
      name: 'blocker',
      async closeBundle() {
        if (!isBlocked) return
        await rm(join(project.root, 'dist/.serve-dist'), { recursive: true })
        await project.write('dist/.serve-dist', 'a file in the place of the folder')
      },
    }
    await watch(project, { plugins: [blocker, serveDist()] })
    await vi.waitUntil(() => project.logger.errors.length > 0, patience)
    expect(project.logger.errors[0]).toContain('.serve-dist')
    isBlocked = false
    await lazyText(project, 'mended')
    await described(project, 'mended')
  })

  describe('when the next build fails before this one is closed', () => {
    test('gets its manifest', async () => {
      const project = await createProject(application)
      const plugins = [breakBetween(project), serveDist()]
      await watch(project, { plugins, build: { emptyOutDir: false } })
      expect(await lateFiles(project)).toContain('late.txt')
    })

    // Rolldown asks no plugin any more when one has failed in buildEnd.
    test.skipIf(viteName === 'Vite 8')('gets it though a plugin fails in buildEnd too', async () => {
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

    test('is complete, or is refused and told of where Vite emptied it already', async () => {
      const project = await createProject({ ...application, 'public/robots.txt': 'nothing' })
      const plugins = [breakBetween(project), serveDist()]
      await watch(project, { plugins })
      const told = `${join(project.root, 'dist')} is not served until`
      const isTold = () => project.logger.warnings.some((line) => line.includes(told))
      const isEmptied = viteName === 'Vite 6'
      await vi.waitFor(async () => {
        expect(isTold()).toBe(isEmptied)
        const state = (await project.list('dist/.serve-dist')).filter((name) => name !== 'record.json')
        expect(state).toEqual([isEmptied ? 'pending.json' : 'manifest.json'])
      }, patience)
      await lazyText(project, 'mended')
      await vi.waitFor(async () => {
        expect(Object.keys(await project.classes())).toContain('index.html')
        await expectWhole(project)
      }, patience)
    })
  })

  test('tells that the folder is not served when a build fails while it renders', async () => {
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
      () => project.logger.warnings.some((line) => line.includes(`${folder} is not served until`)),
      patience,
    )
    await vi.waitFor(
      async () => expect(await project.list()).toEqual([pendingPath, '.serve-dist/record.json']),
      patience,
    )
    isBroken = false
    await lazyText(project, 'mended')
    await vi.waitFor(async () => {
      expect(Object.keys(await project.classes())).toContain('index.html')
      await expectWhole(project)
    }, patience)
  })
})
