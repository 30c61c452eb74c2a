import { execFile } from 'node:child_process'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { loadEngine } from '@serve-dist/engine'
import { carriedDeltasPath, carriedFolder } from '@serve-dist/manifest'
import { availableDeltaCodings, deltaBlobsOf, parseDeltas } from '@serve-dist/store/deltas'
import { describe, expect, test } from 'vitest'
import { makeVersion, makeVersions, script } from '../../../store/test/support/make-builds.ts'
import { newerNode } from '../../../store/test/support/newer-node.ts'
import { explainRequest, loadExplainedSite } from '../../src/command/explain-command.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { entityTagOf } from '../../src/protocol/entity-tag.ts'
import { offerOf, sha256Of } from '../support/publish-deltas.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const node = newerNode('node24') ?? ''
const engines = typeof loadEngine() === 'string' ? ['node'] : ['node', 'native']
const builds = makeVersions()

/** Returns a copy of the build of a release. */
async function buildOf(release: 1 | 2 | 3): Promise<string> {
  const directory = join(await temporaryDirectory(), 'dist')
  await cp((await builds)[release - 1]?.directory ?? '', directory, { recursive: true })
  return directory
}

async function carryWith(
  port: number,
  directory: string,
  { program = node, flags = [] }: { readonly program?: string; readonly flags?: readonly string[] } = {},
): Promise<string> {
  const args = ['carry', `http://127.0.0.1:${port}`, directory, ...flags]
  const { code, stdout, stderr } = await spawnCommand(args, { node: program }).exited
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

async function serve(directory: string, engine = 'node'): Promise<number> {
  const { port } = await spawnCommand([directory, '--port', '0', '--engine', engine]).listening
  return port
}

/** Returns the build of the second release with the files and deltas of a carry from the first. */
async function makeSecondRelease(): Promise<string> {
  const server = await startServer(await buildOf(1))
  const directory = await buildOf(2)
  await carryWith(server.port, directory)
  await server.close()
  return directory
}

async function scriptOf(release: number): Promise<Buffer> {
  const directory = (await builds)[release - 1]?.directory ?? ''
  return await readFile(join(directory, `assets/app-${release}.js`))
}

const codings = 'gzip, br, zstd, dcb, dcz'

async function ask(
  port: number,
  release: number,
  { offered, accepted = codings }: { readonly offered?: Uint8Array; readonly accepted?: string } = {},
): Promise<RawResponse> {
  const offer = offered && { 'Available-Dictionary': offerOf(offered) }
  const fields = { 'Accept-Encoding': accepted, ...offer }
  return await rawRequest(port, { target: `/assets/app-${release}.js`, fields })
}

async function decode(coding: string, dictionary: Buffer, delta: Buffer): Promise<Buffer> {
  const folder = await temporaryDirectory()
  const files = [join(folder, 'dictionary'), join(folder, 'delta')] as const
  await writeFile(files[0], dictionary)
  await writeFile(files[1], delta)
  const program = fileURLToPath(new URL('../support/decode-delta.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(node, [program, coding, ...files], { encoding: 'buffer' })
  return stdout
}

async function deltaFilesIn(directory: string): Promise<readonly string[]> {
  const file = join(directory, carriedDeltasPath)
  const blobs = deltaBlobsOf(parseDeltas(await readFile(file, 'utf8'), file))
  return blobs.map(({ sha256 }) => join(directory, carriedFolder, sha256))
}

describe.skipIf(node === '').each(engines)('a carry with deltas, served by the %s engine', (engine) => {
  test('lets a returning visitor download at most 10 % of brotli after each deploy', async () => {
    const missing = await startListener((_request, response) => response.writeHead(404).end())
    const directory = await buildOf(1)
    expect(await carryWith(missing, directory)).toBe(
      `nothing to carry: http://127.0.0.1:${missing} has no list of hashed files\n`,
    )
    let port = await serve(directory, engine)
    for (const release of [2, 3] as const) {
      const mark = (await ask(port, release - 1)).field('Use-As-Dictionary')
      expect(mark).toBe('match="/assets/app-*.js", match-dest=("script")')
      const next = await buildOf(release)
      expect(await carryWith(port, next)).toMatch(
        /\n {2}deltas: \d made in .* in dcz and dcb; of hashed files, returning visitors download at most \d+ B instead of [\d.]+ kB \(Chromium\)\n$/,
      )
      port = await serve(next, engine)
      const [before, after] = [await scriptOf(release - 1), await scriptOf(release)]
      const plain = await ask(port, release, { accepted: 'br' })
      expect([plain.status, plain.field('Content-Encoding')]).toEqual([200, 'br'])
      expect(brotliDecompressSync(plain.body).equals(after)).toBe(true)
      const site = await loadExplainedSite(next, { method: 'GET' })
      for (const coding of ['dcb', 'dcz']) {
        const { status, field, body } = await ask(port, release, {
          offered: before,
          accepted: `br, ${coding}`,
        })
        expect([status, field('Content-Encoding'), field('Vary')]).toEqual([
          200,
          coding,
          'Accept-Encoding, Available-Dictionary',
        ])
        expect(field('Cache-Control')).toBe('private, max-age=31536000, immutable')
        expect(field('ETag')).toBe(entityTagOf(sha256Of(body)))
        expect(body.length).toBeLessThanOrEqual(plain.body.length / 10)
        expect((await decode(coding, before, body)).equals(after)).toBe(true)
        const headers = [
          ['Accept-Encoding', coding] as const,
          ['Available-Dictionary', offerOf(before)] as const,
        ]
        const flags = { method: 'GET', header: headers }
        const explained = await explainRequest(site, `/assets/app-${release}.js`, flags)
        expect(explained.representation?.coding).toBe(coding)
      }
      const other = await ask(port, release, { offered: Buffer.from('another file') })
      expect(other.body.equals((await ask(port, release)).body)).toBe(true)
    }
    // A visitor of an older release gets a delta, too. Kept files have no deltas.
    const late = await ask(port, 3, { offered: await scriptOf(1) })
    expect(late.field('Content-Encoding')).toMatch(/^dc[bz]$/)
    const kept = await ask(port, 2, { offered: await scriptOf(1) })
    expect([kept.field('Content-Encoding'), kept.field('Use-As-Dictionary')]).toEqual(['br', undefined])
  })
})

describe.skipIf(node === '')('the deltas of a folder', () => {
  test('are disabled by --no-deltas, which also removes earlier ones', async () => {
    const directory = await makeSecondRelease()
    const deltas = await deltaFilesIn(directory)
    expect(deltas).toHaveLength(2)
    const { port } = await startServer(await buildOf(1))
    const output = await carryWith(port, directory, { flags: ['--no-deltas'] })
    expect(output).toMatch(/^carried 1 file of 1 earlier build from \S+: .* downloaded\n$/)
    const left = await readdir(join(directory, '.serve-dist'), { recursive: true })
    expect(
      left.filter((name) => name === 'deltas.json' || deltas.some((file) => file.endsWith(name))),
    ).toEqual([])
    const answer = await ask(await serve(directory), 2, { offered: await scriptOf(1) })
    expect([answer.field('Content-Encoding'), answer.field('Use-As-Dictionary')]).toEqual(['br', undefined])
  })

  test('are replaced by those of a new carry', async () => {
    const directory = await makeSecondRelease()
    const before = await deltaFilesIn(directory)
    // A server of the same build lists the first build as well.
    const { port } = await startServer(directory)
    await carryWith(port, directory)
    expect(await deltaFilesIn(directory)).toEqual(before)
    await rm(join(directory, carriedDeltasPath))
    const other = await startServer(await buildOf(3))
    await carryWith(other.port, directory)
    const after = await deltaFilesIn(directory)
    expect(after.filter((file) => before.includes(file))).toEqual([])
    const names = await readdir(join(directory, carriedFolder))
    expect(names.filter((name) => before.some((file) => file.endsWith(name)))).toEqual([])
  })

  test('are omitted if their files are missing or damaged, and the others are sent', async () => {
    const directory = await makeSecondRelease()
    const offered = await scriptOf(1)
    const codingNow = async (): Promise<string | undefined> => {
      const server = await startServer(directory)
      const answer = await ask(server.port, 2, { offered })
      await server.close()
      return answer.field('Content-Encoding')
    }
    expect(await codingNow()).toMatch(/^dc[bz]$/)
    const [one = '', other = ''] = await deltaFilesIn(directory)
    const { length } = await readFile(one)
    await writeFile(one, 'x'.repeat(length))
    expect(await codingNow()).toMatch(/^dc[bz]$/)
    await rm(other)
    expect(await codingNow()).toBe('br')
  })

  test('are omitted with a warning if their list is invalid', async () => {
    const directory = await makeSecondRelease()
    await writeFile(join(directory, carriedDeltasPath), '{"version":2}')
    const warnings: string[] = []
    const site = await loadSite(directory, { onWarning: (text) => warnings.push(text) })
    expect(warnings.join()).toMatch(/^serving without deltas: .*deltas\.json: .*expected version 1/s)
    expect([...site.files.values()].filter(({ deltas }) => deltas !== undefined)).toEqual([])
  })

  test('are omitted with a warning if their list is larger than 8 MiB or has many dictionaries', async () => {
    const directory = await makeSecondRelease()
    const file = join(directory, carriedDeltasPath)
    const text = await readFile(file, 'utf8')
    const [deltas] = parseDeltas(text, file).files.values()
    const [delta] = deltas?.values() ?? []
    const many = (count: number): string =>
      Array.from({ length: count }, (_, n) => `"${sha256Of(`${n}`)}":${JSON.stringify(delta)}`).join()
    const first = text.indexOf('{', text.indexOf('files":{') + 8) + 1
    for (const [count, problem] of [
      [4, 'a file has more than 3 dictionaries. Carry again.'],
      [25_000, 'a file has more than 3 dictionaries. Carry again.'],
      [60_000, 'is larger than 8.4 MB. Write it again.'],
    ] as const) {
      await writeFile(file, `${text.slice(0, first)}${many(count)},${text.slice(first)}`)
      const warnings: string[] = []
      const site = await loadSite(directory, { onWarning: (warning) => warnings.push(warning) })
      expect(warnings).toEqual([`serving without deltas: ${file}: ${problem}`])
      expect([...site.files.values()].filter((each) => each.deltas !== undefined)).toEqual([])
    }
  })

  test('are omitted if they are of another dictionary than their list says', async () => {
    const directory = await makeSecondRelease()
    const file = join(directory, carriedDeltasPath)
    const text = await readFile(file, 'utf8')
    const other = Buffer.from('another file')
    await writeFile(file, text.replaceAll(sha256Of(await scriptOf(1)), sha256Of(other)))
    const answer = await ask(await serve(directory), 2, { offered: other })
    expect(answer.field('Content-Encoding')).toBe('br')
  })

  test('are limited by the memory budget', async () => {
    const site = await loadSite(await makeSecondRelease(), { memoryBudget: 0 })
    const files = [...site.files.values()]
    expect(files.filter(({ deltas }) => deltas !== undefined)).toEqual([])
    expect(files.filter(({ useAsDictionary }) => useAsDictionary !== undefined)).toHaveLength(1)
  })

  test('are not made of earlier files that are much larger, because the site could exhaust the memory', async () => {
    const large = await makeVersion(1, { 'assets/app-1.js': script.repeat(5) })
    const { port } = await startServer(large.directory)
    expect(await carryWith(port, await buildOf(2))).toMatch(/\n {2}deltas: none to make\n$/)
  })

  test('are not made of pairs for which the encoder needs much memory', async () => {
    const large = script.repeat(Math.ceil((1024 * 1024) / script.length))
    const earlier = await makeVersion(1, { 'assets/app-1.js': large.repeat(4) })
    const later = await makeVersion(2, { 'assets/app-2.js': `${large}// 2\n` })
    const { port } = await startServer(earlier.directory)
    const report = 'process.on("exit", () => console.error("peak", process.resourceUsage().maxRSS))'
    const { stdout, stderr } = await spawnCommand(['carry', `http://127.0.0.1:${port}`, later.directory], {
      node,
      nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(report)}`],
    }).exited
    expect(stdout).toMatch(/\n {2}deltas: none to make\n$/)
    expect(Number(/^peak (\d+)\n$/.exec(stderr)?.[1])).toBeLessThan(200_000)
  })

  test('have one coding if Node can make only one', async () => {
    const { port } = await startServer(await buildOf(1))
    const made = await carryWith(port, await buildOf(2), { program: newerNode('node22') ?? '' })
    expect(made).toMatch(
      /\n {2}deltas: 1 made in .* in dcz; of hashed files, returning visitors download at most /,
    )
  })
})

test.skipIf(availableDeltaCodings().length > 0)(
  'a carry by a Node that cannot make deltas names one that can, and removes earlier deltas',
  async () => {
    const directory = await buildOf(2)
    await writeFile(join(directory, carriedDeltasPath), '{"version":1,"files":{}}')
    const { port } = await startServer(await buildOf(1))
    const output = await carryWith(port, directory, { program: process.execPath })
    expect(output).toContain(
      `\n  deltas: none: Node ${process.version} cannot make them; use Node 22.19, 24.6 or newer\n`,
    )
    expect(await readdir(join(directory, '.serve-dist'))).not.toContain('deltas.json')
  },
)
