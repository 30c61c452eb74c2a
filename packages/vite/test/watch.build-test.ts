import { createHash } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { pendingPath } from '@serve-dist/precompress'
import type { InlineConfig, Plugin } from 'vite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, type Project, prose } from './support/project.ts'
import { createRecordingLogger, type RecordingLogger } from './support/recording-logger.ts'
import { type Vite, vites } from './support/vites.ts'

const patience = { timeout: 20_000, interval: 20 }

async function watch({ build }: Vite, config: InlineConfig): Promise<void> {
  const watcher = await build({ ...config, build: { ...config.build, watch: {} } })
  if (!('close' in watcher)) throw new Error('Vite does not watch')
  onTestFinished(() => watcher.close())
}

function lazyText(project: Project, text: string): Promise<void> {
  return project.write('lazy.js', `export default ${JSON.stringify(prose(text))}`)
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** How many tables at the end of a pass were printed. */
function countPasses({ infos }: RecordingLogger): number {
  return infos.filter((line) => line.includes('variants (')).length
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

async function isStaging(folder: string): Promise<boolean> {
  return (await readdir(join(folder, '.serve-dist/staging')).catch(() => [])).length > 0
}

/** Holds the first build between its output and its end, until the next one has failed. */
function breakBetween(project: Project, logger: RecordingLogger): Plugin {
  let isFirst = true
  return {
    name: 'break-between',
    async closeBundle() {
      if (!isFirst) return
      isFirst = false
      await project.write('lazy.js', 'export default (')
      await vi.waitUntil(() => logger.errors.length > 0, patience)
      await project.write('dist/late.txt', 'what the pass has to wait for')
    },
  }
}

describe.each(vites)('serveDist watching with $name', ({ name: viteName, load }) => {
  test('makes one pass for each build that succeeds', async () => {
    const vite = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    let builds = 0
    const counter: Plugin = { name: 'counter', writeBundle: () => void (builds += 1) }
    // A watcher may see one change of a file as two.
    const buildAfter = (earlier: string) =>
      vi.waitFor(async () => {
        const { buildId } = await project.manifest()
        expect(buildId).not.toBe(earlier)
        expect(countPasses(logger)).toBe(builds)
        await expectWhole(project)
        return buildId
      }, patience)
    await watch(vite, project.config({ plugins: [counter, serveDist()], customLogger: logger }))
    const first = await buildAfter('')

    await lazyText(project, 'second')
    const second = await buildAfter(first)
    // The second of two builds for one change has taken the manifest away for a moment.
    await vi.waitFor(
      async () =>
        expect(Object.values(await project.classes()).filter((cache) => cache === 'immutable')).toHaveLength(
          3,
        ),
      patience,
    )

    await project.write('lazy.js', 'export default (')
    await vi.waitUntil(() => logger.errors.length > 0, patience)
    await lazyText(project, 'third')
    await buildAfter(second)
  })

  test('ends with the last build when builds follow fast', async () => {
    const vite = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    await watch(
      vite,
      project.config({ plugins: [serveDist()], customLogger: logger, build: { minify: false } }),
    )
    const described = async () => {
      const { files } = await project.manifest().catch(() => ({ files: [] }))
      const lazy = files.find(({ path }) => path.includes('/lazy-'))
      return lazy === undefined ? '' : project.read(`dist/${lazy.path}`).catch(() => '')
    }
    await vi.waitUntil(async () => (await described()).includes('lazy 1'), patience)
    for (const text of ['one', 'two', 'three']) {
      await lazyText(project, text)
      const built = async () => {
        const names = await project.list().catch(() => [])
        const lazy = names.find((name) => /lazy-[^.]*\.js$/.test(name)) ?? 'none'
        return (await project.read(`dist/${lazy}`).catch(() => '')).includes(`${text} 1`)
      }
      await vi.waitUntil(built, patience)
    }
    await vi.waitUntil(async () => (await described()).includes('three 1'), patience)
    await vi.waitFor(() => expectWhole(project), patience)
    expect(logger.errors).toEqual([])
  })

  test('describes what plugins write at the end of a build that is closed before the one before', async () => {
    const vite = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
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
        // A change that the watcher saw as two is a third build, and the first gets no pass.
        await vi.waitUntil(() => countPasses(logger) > 0 || closed > 2, patience)
        await project.write('dist/late.txt', prose(`late ${closed}`))
      },
    }
    await watch(vite, project.config({ plugins: [late, serveDist()], customLogger: logger }))
    await vi.waitFor(async () => {
      expect(Object.keys(await project.classes())).toContain('late.txt')
      await expectWhole(project)
    }, patience)
  })

  test('writes nothing while a pass runs', async () => {
    const vite = await load()
    // Some seconds of work for brotli: long enough for the next build to come to its output.
    const large = Array.from({ length: 12_000 }, (_, index) => sha256(String(index))).join('\n')
    const project = await createProject({ ...application, 'public/large.txt': large })
    const logger = createRecordingLogger()
    const staging = join(project.root, 'dist/.serve-dist/staging')
    // What a pass has made and not put in its place yet.
    const isPassRunning = () =>
      readdir(staging).then(
        (names) => names.length > 0,
        () => false,
      )
    const runningAtOutput: boolean[] = []
    const observer: Plugin = {
      name: 'observer',
      renderStart: async () => void runningAtOutput.push(await isPassRunning()),
      // Not awaited: the pass comes after this.
      closeBundle: () => void changeWhilePassRuns(),
    }
    let isChanged = false
    const changeWhilePassRuns = async () => {
      if (isChanged) return
      isChanged = true
      // Sooner, the pass would be left to the next build.
      await vi.waitUntil(isPassRunning, patience)
      await lazyText(project, 'second')
    }
    const plugins = [{ ...observer, enforce: 'post' as const }, serveDist()]
    const config = project.config({
      plugins,
      customLogger: logger,
      build: { emptyOutDir: false, minify: false },
    })
    await watch(vite, config)
    await vi.waitFor(async () => {
      const { files } = await project.manifest()
      const lazy = files.filter(({ path }) => path.includes('/lazy-'))
      const texts = lazy.map(async ({ path }) => await project.read(`dist/${path}`))
      expect((await Promise.all(texts)).join()).toContain('second 1')
      await expectWhole(project)
    }, patience)
    expect(runningAtOutput.length).toBeGreaterThanOrEqual(2)
    expect(runningAtOutput).not.toContain(true)
  })

  test('ends a pass that is outdated when the next build is about to write', async () => {
    const vite = await load()
    // More work for brotli than the patience of this test.
    const large = Array.from({ length: 400_000 }, (_, index) => sha256(String(index))).join('\n')
    const project = await createProject({ ...application, 'public/large.txt': large })
    const logger = createRecordingLogger()
    await watch(
      vite,
      project.config({ plugins: [serveDist()], customLogger: logger, build: { emptyOutDir: false } }),
    )
    const staging = join(project.root, 'dist/.serve-dist/staging')
    await vi.waitUntil(() => readdir(staging).catch(() => false), patience)
    await project.write('public/large.txt', 'small')
    await lazyText(project, 'second')
    await vi.waitUntil(() => countPasses(logger) > 0, patience)
    await vi.waitFor(() => expectWhole(project), patience)
    expect(await project.read('dist/large.txt')).toBe('small')
    expect(logger.errors).toEqual([])
  })

  test('reports a pass that fails, and goes on', async () => {
    const vite = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    let isBlocked = true
    const blocker: Plugin = {
      name: 'blocker',
      async closeBundle() {
        if (!isBlocked) return
        await rm(join(project.root, 'dist/.serve-dist'), { recursive: true })
        await project.write('dist/.serve-dist', 'a file in the place of the folder')
      },
    }
    await watch(vite, project.config({ plugins: [blocker, serveDist()], customLogger: logger }))
    await vi.waitUntil(() => logger.errors.length > 0, patience)
    expect(logger.errors[0]).toContain('.serve-dist')
    isBlocked = false
    await lazyText(project, 'mended')
    await vi.waitUntil(() => countPasses(logger) > 0, patience)
    await vi.waitFor(() => expectWhole(project), patience)
  })

  describe('when the next build fails before this one is closed', () => {
    test('comes to the end of its pass', async () => {
      const vite = await load()
      const project = await createProject(application)
      const logger = createRecordingLogger()
      const plugins = [breakBetween(project, logger), serveDist()]
      await watch(vite, project.config({ plugins, customLogger: logger, build: { emptyOutDir: false } }))
      await vi.waitUntil(() => countPasses(logger) === 1, patience)
      const paths = (await project.manifest()).files.map(({ path }) => path)
      expect(paths).toEqual(expect.arrayContaining(['index.html', 'late.txt']))
      await expectWhole(project)
    })

    // Rolldown asks no plugin any more when one has failed in buildEnd.
    test.skipIf(viteName === 'Vite 8')('comes to its end though a plugin fails in buildEnd too', async () => {
      const vite = await load()
      const project = await createProject(application)
      const logger = createRecordingLogger()
      const failing: Plugin = {
        name: 'failing',
        buildEnd(error) {
          if (error !== undefined) throw new Error('broken on purpose')
        },
      }
      const plugins = [breakBetween(project, logger), failing, serveDist()]
      await watch(vite, project.config({ plugins, customLogger: logger, build: { emptyOutDir: false } }))
      await vi.waitUntil(() => countPasses(logger) === 1, patience)
      expect(Object.keys(await project.classes())).toContain('late.txt')
      await expectWhole(project)
    })

    test('is complete, or is refused and told of where Vite emptied it already', async () => {
      const vite = await load()
      const project = await createProject({ ...application, 'public/robots.txt': 'nothing' })
      const logger = createRecordingLogger()
      const plugins = [breakBetween(project, logger), serveDist()]
      await watch(vite, project.config({ plugins, customLogger: logger }))
      const told = `${join(project.root, 'dist')} is not served until`
      const isTold = () => logger.warnings.some((line) => line.includes(told))
      await vi.waitUntil(() => isTold() || countPasses(logger) === 1, patience)
      expect(isTold()).toBe(viteName === 'Vite 6')
      expect(await project.list()).toContain(viteName === 'Vite 6' ? pendingPath : manifestPath)
      expect(await project.list()).not.toContain(viteName === 'Vite 6' ? manifestPath : pendingPath)
      await lazyText(project, 'mended')
      await vi.waitFor(async () => {
        expect(Object.keys(await project.classes())).toContain('index.html')
        await expectWhole(project)
      }, patience)
    })
  })

  test('tells that the folder is not served when a build fails while it renders', async () => {
    const vite = await load()
    const project = await createProject(application)
    const logger = createRecordingLogger()
    let isBroken = false
    const breaker: Plugin = {
      name: 'breaker',
      renderChunk() {
        if (isBroken) throw new Error('broken on purpose')
      },
    }
    await watch(vite, project.config({ plugins: [breaker, serveDist()], customLogger: logger }))
    await vi.waitUntil(() => countPasses(logger) === 1, patience)
    isBroken = true
    await lazyText(project, 'second')
    await vi.waitUntil(() => logger.errors.length > 0, patience)
    const folder = join(project.root, 'dist')
    await vi.waitUntil(
      () => logger.warnings.some((line) => line.includes(`${folder} is not served until`)),
      patience,
    )
    expect(await project.list()).toEqual([pendingPath])
    isBroken = false
    await lazyText(project, 'mended')
    await vi.waitFor(async () => {
      expect(Object.keys(await project.classes())).toContain('index.html')
      await expectWhole(project)
    }, patience)
  })

  describe('when the next build fails while a pass runs', () => {
    // Some seconds of work for brotli: long enough for the next build to begin and fail.
    const large = Array.from({ length: 24_000 }, (_, index) => sha256(String(index))).join('\n')

    test('comes to the end of all folders', async () => {
      const vite = await load()
      const project = await createProject({ ...application, 'public/large.txt': large })
      const logger = createRecordingLogger()
      const output = ['a', 'b'].map((name) => ({ dir: join(project.root, 'dist', name) }))
      const build = { emptyOutDir: false, rollupOptions: { output } }
      await watch(vite, project.config({ plugins: [serveDist()], customLogger: logger, build }))
      // Rolldown begins the pass of the first folder before it reads for the second.
      await vi.waitUntil(() => project.read('dist/b/index.html').catch(() => false), patience)
      await vi.waitUntil(() => isStaging(join(project.root, 'dist/a')), patience)
      await project.write('lazy.js', 'export default (')
      await vi.waitUntil(() => logger.errors.length > 0, patience)
      await vi.waitUntil(() => countPasses(logger) === 2, patience)
      for (const folder of ['dist/a', 'dist/b']) {
        expect((await project.manifest(folder)).files.map(({ path }) => path)).toContain('large.txt')
      }
    })

    test('tells of a pass that fails', async () => {
      const vite = await load()
      const project = await createProject({ ...application, 'public/large.txt': large })
      const logger = createRecordingLogger()
      const build = { emptyOutDir: false }
      await watch(vite, project.config({ plugins: [serveDist()], customLogger: logger, build }))
      await vi.waitUntil(() => isStaging(join(project.root, 'dist')), patience)
      await project.write('lazy.js', 'export default (')
      let changes = 0
      await vi.waitFor(async () => {
        // The pass may have read it already, or not yet.
        changes += 1
        await project.write('dist/index.html', `change ${changes} of somebody else`)
        expect(logger.errors).toContainEqual(expect.stringMatching(/could not compress[^]*index\.html: /))
      }, patience)
    })
  })
})
