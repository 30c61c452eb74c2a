import { execFile, execFileSync } from 'node:child_process'
import { cp, mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { availableDeltaCodings } from '@serve-dist/store/deltas'
import { describe, expect, test, vi } from 'vitest'
import { newerNode } from '../../../store/test/support/newer-node.ts'
import { compressibleText } from '../support/compressible-text.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { buildWithStems, offerOf } from '../support/publish-deltas.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const node = newerNode('node24')
const patience = { timeout: 20_000 }
const both = 'Accept-Encoding, Available-Dictionary'
const text = compressibleText(30_000, 'text')
const app = (build: number): string => `/* build ${build} */${text}`
const files = (build: number): Record<string, string> => ({
  'index.html': `page ${build}`,
  [`assets/app-${build}.js`]: app(build),
})
/** What keeps a thread busy. */
const large = (build: number): Record<string, string> => ({
  ...files(build),
  [`assets/large-${build}.js`]: `/* ${build} */${compressibleText(400_000, 'large')}`,
})

/** A link to the first of several builds. */
async function release(...builds: readonly Record<string, string>[]): Promise<[string, ...string[]]> {
  const folders = await Promise.all(builds.map(async (build) => await buildWithStems(build)))
  const link = join(await temporaryDirectory(), 'current')
  await symlink(folders[0] ?? '', link)
  return [link, ...folders]
}

async function moveLink(link: string, folder = ''): Promise<void> {
  await symlink(folder, `${link}.new`)
  await rename(`${link}.new`, link)
}

/** The answer to who has the file of a build, and asks for that of another. */
async function ask(port: number, build: number, { has }: { readonly has: number }): Promise<RawResponse> {
  const fields = { 'Accept-Encoding': 'gzip, br, dcz', 'Available-Dictionary': offerOf(app(has)) }
  return await rawRequest(port, { target: `/assets/app-${build}.js`, fields })
}

async function decode(program: string, body: Buffer, dictionary: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'dictionary')
  await writeFile(file, dictionary)
  const decoding = `const fs = require('node:fs')
    const dictionary = fs.readFileSync(process.argv[1])
    process.stdout.write(require('node:zlib').zstdDecompressSync(fs.readFileSync(0).subarray(40), { dictionary }))`
  return execFileSync(program, ['-e', decoding, file], { input: body, encoding: 'utf8' })
}

interface Served {
  readonly sites: readonly {
    readonly threads: number
    readonly marked: number
    readonly deltas: number
    readonly bytesInMemory: number
  }[]
  readonly outcomes: readonly string[]
  readonly warnings: readonly string[]
}

/** Takes steps with a live site in a process of its own, which ends once nothing is left to do; in the order of what was served. */
async function host(link: string, options: object, ...steps: readonly string[]): Promise<Served> {
  const program = fileURLToPath(new URL('../support/own-deltas-host.mjs', import.meta.url))
  const words = [program, link, JSON.stringify({ deltas: true, ...options }), ...steps]
  return JSON.parse((await promisify(execFile)(node ?? '', words, { timeout: 15_000 })).stdout)
}

const deltasOf = ({ sites }: Served): readonly number[] => sites.map(({ deltas }) => deltas)

describe.skipIf(node === undefined)('--deltas', () => {
  test.each([
    ['one process', []],
    ['two workers', ['--workers', '2']],
  ])('sends who has the file of a build before what has changed: %s', async (_name, flags) => {
    const [link, , second, third] = await release(files(1), files(2), files(3))
    const args = [link, '--port', '0', '--watch', '--deltas', ...flags]
    const command = spawnCommand(args, { node: node ?? '' })
    const { port } = await command.listening
    const marked = await ask(port, 1, { has: 1 })
    expect(['Vary', 'Use-As-Dictionary', 'Content-Encoding'].map(marked.field)).toEqual([
      both,
      'match="/assets/app-*.js", match-dest=("script")',
      'br',
    ])

    const seen = new Set<string>()
    for (const [build, folder] of [second, third].map((each, index) => [index + 2, each] as const)) {
      await moveLink(link, folder)
      for (const has of build === 2 ? [1] : [1, 2]) {
        await vi.waitFor(async () => {
          const answer = await ask(port, build, { has })
          seen.add([answer.status, answer.field('Content-Encoding'), answer.field('Vary')].join(' · '))
          expect(answer.field('Content-Encoding')).toBe('dcz')
          expect(await decode(node ?? '', answer.body, app(has))).toBe(app(build))
        }, patience)
      }
    }
    // Before the swap nobody has the file, and until the delta is made everybody gets the whole of it.
    expect(new Set(['404 ·  · ', `200 · br · ${both}`, `200 · dcz · ${both}`])).toEqual(
      expect.toSatisfy((allowed: Set<string>) => [...seen].every((each) => allowed.has(each))),
    )
    command.child.kill('SIGTERM')
    expect((await command.exited).code).toBe(0)
    expect(command.complaints()).not.toContain('could not be made')
  })

  test('makes nothing at the start, nor of a build that is refused', async () => {
    const [link, , second] = await release(files(1), files(2))
    const spoilt = await buildWithStems(files(3))
    await rm(join(spoilt, 'assets/app-3.js'))
    const served = await host(link, {}, spoilt, second ?? '', 'wait')
    expect(served.sites).toMatchObject([
      { threads: 0, marked: 1, deltas: 0 },
      { threads: 0, marked: 1, deltas: 0 },
      { threads: 1, marked: 1, deltas: 2 },
    ])
    expect(served.outcomes).toEqual(['refused', 'swapped'])
  })

  test('stops with the site, and with the next build', async () => {
    const [link, first, second, third] = await release(large(1), large(2), files(3))
    const closed = await host(link, {}, second ?? '', 'thread')
    expect(deltasOf(closed)).toEqual([0, 0])
    await moveLink(link, first)
    const swapped = await host(link, {}, second ?? '', 'thread', third ?? '', 'wait')
    // The third build has no large file: its small one comes from two builds.
    expect(deltasOf(swapped)).toEqual([0, 0, 0, 4])
    expect(swapped.warnings).toEqual([])
  })

  test('makes them from files that are kept open, and holds what there is room for', async () => {
    const [link, first, second] = await release(files(1), files(2))
    const streamed = await host(link, { largestBody: 100 }, second ?? '', 'wait')
    expect(deltasOf(streamed)).toEqual([0, 0, 2])
    await moveLink(link, first)
    const bytesInMemory = streamed.sites[2]?.bytesInMemory ?? 0
    const room = { largestBody: 100, memoryBudget: bytesInMemory - 1 }
    // Two codings of one delta: the larger of them goes.
    expect(deltasOf(await host(link, room, second ?? '', 'wait'))).toEqual([0, 0, 1])
  })

  test('does not make again what it has', async () => {
    const [link, , second, third] = await release(large(1), large(2), {
      ...large(2),
      'index.html': 'page 3',
    })
    const served = await host(link, {}, second ?? '', 'wait', third ?? '', 'wait')
    // The third has the scripts of the second.
    expect(served.sites.map(({ deltas, threads }) => [deltas, threads])).toEqual([
      [0, 0],
      [0, 0],
      [4, 1],
      [0, 1],
      [4, 1],
    ])
  })
})

describe('--deltas', () => {
  test.skipIf(availableDeltaCodings().length > 0)(
    'says which Node can make them, and marks nothing',
    async () => {
      const [link] = await release(files(1))
      const command = spawnCommand([link, '--port', '0', '--deltas'])
      const { field } = await ask((await command.listening).port, 1, { has: 1 })
      expect([field('Vary'), field('Use-As-Dictionary')]).toEqual(['Accept-Encoding', undefined])
      expect(command.complaints()).toBe(
        `serve-dist: warning: deltas: none: Node ${process.version} cannot make them; serve with Node 22.19, 24.6 or newer\n`,
      )
      command.child.kill('SIGTERM')
      await command.exited
    },
  )

  test('names the package that it needs, where that is not installed', async () => {
    const folder = await temporaryDirectory()
    const own = fileURLToPath(new URL('../..', import.meta.url))
    const modules = join(folder, 'node_modules')
    const copy = join(modules, '@serve-dist/server')
    await cp(join(own, 'dist'), join(copy, 'dist'), { recursive: true })
    await cp(join(own, 'package.json'), join(copy, 'package.json'))
    for (const name of ['@serve-dist/manifest', '@remix-run/node-fetch-server']) {
      await mkdir(dirname(join(modules, name)), { recursive: true })
      await symlink(await realpath(join(own, 'node_modules', name)), join(modules, name))
    }
    const script = `import { openLiveSite } from '@serve-dist/server'
      await openLiveSite('dist', { deltas: true }).catch(({ code, message }) => console.log(code, message))`
    await writeFile(join(folder, 'open.mjs'), script)
    const { stdout } = await promisify(execFile)(process.execPath, ['open.mjs'], { cwd: folder })
    expect(stdout).toBe(
      'SD_PACKAGE_MISSING making deltas needs the package @serve-dist/store, which is not installed: npm install @serve-dist/store\n',
    )
  })

  test('has no effect beside a store', async () => {
    const folder = await temporaryDirectory()
    await mkdir(join(folder, 'store'))
    const { exited } = spawnCommand(['--store', join(folder, 'store'), '--deltas', '--store-cache', folder])
    expect((await exited).stderr).toContain(
      '--deltas has no effect with --store: what it has is sent anyway, unless --no-deltas says not to',
    )
  })
})
