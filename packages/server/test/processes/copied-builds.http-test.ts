import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { copyFile, cp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { manifestPath } from '@serve-dist/manifest'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test, vi } from 'vitest'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { fetchWhole } from '../support/fetch-whole.ts'
import { type RunningCommand, spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const run = promisify(execFile)

const hasRsync = await run('rsync', ['--version']).then(
  () => true,
  () => false,
)

/** Streamed files, of one size in both builds. They have more bytes than `slowly` sends in a second. */
const films = [randomBytes(3_000_000), randomBytes(3_000_000)] as const
/** In a folder that rsync copies after `.serve-dist`. */
const film = 'assets/film.bin'
const slowly = '--bwlimit=2000'

interface Builds {
  /** The folder that the command serves. */
  readonly dist: string
  /** The folder with the new build. */
  readonly next: string
}

/**
 * Creates two builds whose files have equal names and sizes, and equal times if builds have constant ones.
 */
async function twoBuilds(times: Times): Promise<Builds> {
  const [first, second] = [
    await buildFixture({ 'index.html': 'page 1', [film]: films[0] }),
    await buildFixture({ 'index.html': 'page 2', [film]: films[1] }),
  ]
  const dist = join(await temporaryDirectory(), 'dist')
  await cp(first, dist, { recursive: true })
  for (const name of ['index.html', film, manifestPath]) {
    await utimes(join(dist, name), 1e9, 1e9)
    // Use whole seconds because rsync compares no fractions.
    const later = times === 'constant' ? 1e9 : 1e9 + 10
    await utimes(join(second, name), later, later)
  }
  return { dist, next: second }
}

type Times = 'own' | 'constant'

/** A way to copy: its name, the file times, and the function that copies. */
type Way = readonly [string, Times, (builds: Builds, command: RunningCommand) => Promise<unknown>]

/** Ways to copy that rename new files over old ones. Open descriptors still refer to the old files. */
const replacing: readonly Way[] = [
  ['rsync', 'own', async ({ dist, next }) => await run('rsync', ['-a', slowly, `${next}/`, dist])],
  [
    'rsync --delay-updates',
    'own',
    async ({ dist, next }) => await run('rsync', ['-a', '--delay-updates', slowly, `${next}/`, dist]),
  ],
  [
    'rsync --checksum of builds with constant times',
    'constant',
    async ({ dist, next }) => {
      await run('rsync', ['-a', '--checksum', slowly, `${next}/`, dist])
    },
  ],
  [
    'a manifest first, and the streamed file long after it',
    'own',
    async ({ dist, next }, { complaints }) => {
      const place = async (name: string): Promise<void> => {
        await copyFile(join(next, name), join(dist, `${name}.new`))
        await rename(join(dist, `${name}.new`), join(dist, name))
      }
      await place(manifestPath)
      await place('index.html')
      await vi.waitUntil(() => complaints().includes('reload refused'))
      await place(film)
    },
  ],
  [
    'mv of the folders',
    'own',
    async ({ dist, next }) => {
      await rename(dist, `${dist}.old`)
      await cp(next, `${dist}.new`, { recursive: true })
      await rename(`${dist}.new`, dist)
      await rm(`${dist}.old`, { recursive: true })
    },
  ],
  [
    'cp -r into the emptied folder',
    'own',
    async ({ dist, next }) => {
      for (const name of await readdir(dist)) await rm(join(dist, name), { recursive: true })
      await run('cp', ['-r', `${next}/.`, dist])
    },
  ],
]

/** Ways that overwrite the files that the server has open. */
const overwriting: readonly Way[] = [
  [
    'rsync --inplace',
    'own',
    async ({ dist, next }) =>
      await run('rsync', ['-a', '--inplace', '--no-whole-file', slowly, `${next}/`, dist]),
  ],
  [
    'rsync --inplace --checksum of builds with constant times',
    'constant',
    async ({ dist, next }) => {
      await run('rsync', ['-a', '--inplace', '--checksum', slowly, `${next}/`, dist])
    },
  ],
  ['cp -r', 'own', async ({ dist, next }) => await run('cp', ['-r', `${next}/.`, dist])],
  [
    'cp -a of builds with constant times',
    'constant',
    async ({ dist, next }) => {
      await run('cp', ['-a', `${next}/.`, dist])
    },
  ],
]

interface Asked {
  /** The number of responses whose body matches their entity tag, by build. */
  readonly right: [number, number]
  /** Responses whose bytes do not match their entity tag. */
  readonly wrong: string[]
  /** Errors and truncated responses. */
  readonly failed: string[]
}

const tags = films.map((bytes) => entityTagOf(createHash('sha256').update(bytes).digest('hex')))

/** Requests the streamed file until the copy is done and its build is served. */
async function requestDuringCopy(port: number, copy: Promise<unknown>): Promise<Asked> {
  const asked: Asked = { right: [0, 0], wrong: [], failed: [] }
  let isCopied = false
  copy.then(
    () => (isCopied = true),
    () => (isCopied = true),
  )
  for (;;) {
    try {
      const got = await fetchWhole({
        port,
        scheme: 'http',
        agent: false,
        path: film,
        acceptEncoding: '',
      })
      const tag = got.field('ETag') ?? ''
      const build = tags.indexOf(tag)
      if (got.status !== 200) asked.failed.push(`status ${got.status}`)
      else if (build === -1 || entityTagOf(got.sha256) !== tag) asked.wrong.push(`${tag}: ${got.sha256}`)
      else asked.right[build === 0 ? 0 : 1] += 1
      if (isCopied && got.status === 200 && build === 1) break
    } catch (error) {
      asked.failed.push(String(error))
    }
  }
  await copy
  return asked
}

const streaming = ['--port', '0', '--memory-budget', '1000', '--watch']

function usable(ways: readonly Way[]): readonly Way[] {
  return ways.filter(([name]) => hasRsync || !name.startsWith('rsync'))
}

/** Serves the first build with this number of processes, while the second is copied over it. */
async function copyWhileServing([, times, copy]: Way, workers: string): Promise<Asked> {
  const builds = await twoBuilds(times)
  const command = spawnCommand([builds.dist, ...streaming, '--workers', workers])
  const { port } = await command.listening
  const asked = await requestDuringCopy(port, copy(builds, command))
  command.child.kill('SIGTERM')
  await command.exited
  return asked
}

describe.skipIf(process.platform !== 'linux')('while a new build is copied over the old one', () => {
  test.each(usable(replacing))('by %s, each response is whole and matches its entity tag', async (...way) => {
    const { right, wrong, failed } = await copyWhileServing(way, '1')
    expect([wrong.slice(0, 3), failed.slice(0, 3)]).toEqual([[], []])
    expect(right[1]).toBeGreaterThan(0)
  })

  test.each(usable(overwriting))(
    'by %s, no response has bytes that differ from its entity tag',
    async (...way) => {
      const { right, wrong } = await copyWhileServing(way, '1')
      expect(wrong.slice(0, 3)).toEqual([])
      expect(right[1]).toBeGreaterThan(0)
    },
  )

  test.each(usable([...replacing.slice(0, 1), ...overwriting.slice(0, 1)]))(
    'by %s, two workers behave like one process',
    async (...way) => {
      const { right, wrong } = await copyWhileServing(way, '2')
      expect(wrong.slice(0, 3)).toEqual([])
      expect(right[1]).toBeGreaterThan(0)
    },
  )
})

describe.skipIf(process.platform !== 'linux')('a streamed file', () => {
  test('of the previous build that a start found next to a newer manifest is detected', async () => {
    const { dist, next } = await twoBuilds('own')
    for (const name of ['index.html', manifestPath]) await copyFile(join(next, name), join(dist, name))
    const command = spawnCommand([dist, ...streaming])
    const { port } = await command.listening
    await copyFile(join(next, film), join(dist, 'new'))
    await rename(join(dist, 'new'), join(dist, film))
    const { wrong, right } = await requestDuringCopy(port, Promise.resolve())
    expect([wrong, right]).toEqual([[], [0, 1]])
    await vi.waitFor(() => expect(command.complaints()).toContain('changed since the server read it'))
  })

  test('is verified again by a reload only if it was replaced', async () => {
    const { dist, next } = await twoBuilds('own')
    const { child, listening, complaints } = spawnCommand([dist, '--port', '0', '--memory-budget', '1000'])
    await listening
    const readBytes = async (): Promise<number> => {
      const counters = await readFile(`/proc/${child.pid}/io`, 'utf8')
      return Number(/^rchar: (\d+)/m.exec(counters)?.[1])
    }
    const reload = async (times: number): Promise<number> => {
      const before = await readBytes()
      child.kill('SIGHUP')
      await vi.waitFor(() => expect(complaints().match(/serv(ing|ed)\b.*\n/g)).toHaveLength(times))
      return (await readBytes()) - before
    }
    await writeFile(join(dist, 'index.html'), 'page 3')
    await precompress(dist)
    expect(await reload(1)).toBeLessThan(films[0].length / 2)
    await cp(next, dist, { recursive: true })
    expect(await reload(2)).toBeGreaterThan(films[0].length)
    expect(await reload(3)).toBeLessThan(films[0].length / 2)
  })
})
