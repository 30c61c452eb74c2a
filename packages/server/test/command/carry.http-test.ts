import { rmSync, symlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import {
  carriedFolder,
  carriedListPath,
  type ListedBuild,
  type ListedFile,
  parseKeptList,
} from '@serve-dist/manifest'
import { describe, expect, test, vi } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { carryFrom } from '../support/carry-from.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { startServer } from '../support/start-server.ts'
import { startListener } from '../support/start-listener.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const listPath = '/__serve-dist/kept.json'
const [current, older] = ['1'.repeat(32), '2'.repeat(32)]

/** The files of a site by path. */
type SiteFiles = Readonly<Record<string, string>>

const files: SiteFiles = {
  'assets/a-1.js': compressibleText(3000, 'a'),
  'assets/b-1.css': compressibleText(2000, 'b'),
  'assets/c-1.woff2': 'c',
}

function listedFiles(of: SiteFiles, more: Partial<ListedFile> = {}): ListedFile[] {
  return Object.entries(of).map(([path, text]) => {
    const br = brotliCompressSync(text)
    const variants = [{ coding: 'br', size: br.length, sha256: sha256Of(br) } as const]
    return Object.assign({ path, size: text.length, sha256: sha256Of(text), variants }, more)
  })
}

/** Lists a file with a gzip variant, which may be another content. */
function listedWithGzip(path: string, text: string, gzip: Buffer = gzipSync(text)): ListedFile {
  const variants = [{ coding: 'gzip', size: gzip.length, sha256: sha256Of(gzip) } as const]
  return { path, size: text.length, sha256: sha256Of(text), variants }
}

function listOf(builds: readonly Partial<ListedBuild>[]): string {
  const complete = builds.map((build) => Object.assign({ id: current, files: [] }, build))
  return JSON.stringify({ version: 1, builds: complete })
}

const honestList = listOf([{ files: listedFiles(files) }])

interface SiteOptions {
  readonly list?: string | Buffer
  /** Answers instead of the site. Returns `undefined` if the site answers. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse) => unknown
}

interface TestedSite {
  readonly port: number
  /** The requests up to now: path and `Accept-Encoding`. */
  readonly requests: string[]
}

/** Starts a site that answers a list and files in brotli, in gzip and without a coding, except for `answer`. */
async function startSite({ list = honestList, answer }: SiteOptions = {}): Promise<TestedSite> {
  const requests: string[] = []
  const listener: RequestListener = (request, response) => {
    const { url = '', headers } = request
    requests.push(`${url.replace('/assets/', '')} ${String(headers['accept-encoding'])}`)
    if (answer?.(request, response) !== undefined) return
    const text = url === listPath ? list : files[url.slice(1)]
    const isJson = url === listPath ? { 'content-type': 'application/json' } : {}
    if (text === undefined) response.writeHead(404).end()
    else if (headers['accept-encoding'] === 'br') {
      response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(text))
    } else if (headers['accept-encoding'] === 'gzip') {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
    } else response.writeHead(200, isJson).end(text)
  }
  return { port: await startListener(listener), requests }
}

/** Builds a folder without the files of the site. */
async function newBuild(): Promise<string> {
  return await buildFixture({ 'index.html': 'new', 'assets/new-2.js': 'new' })
}

/** Returns the files that a folder has besides its build. */
async function carriedIn(directory: string): Promise<readonly string[]> {
  const found = await readdir(join(directory, '.serve-dist'), { recursive: true })
  return found.filter((name) => name !== 'manifest.json').toSorted()
}

async function carriedBuilds(directory: string): Promise<readonly ListedBuild[]> {
  return parseKeptList(await readFile(join(directory, carriedListPath), 'utf8')).builds
}

async function runCarry(port: number, directory: string, flags: readonly string[] = []) {
  return await spawnCommand(['carry', `http://127.0.0.1:${port}`, directory, ...flags]).exited
}

/** Sends a body until the client has gone. */
function endless(response: ServerResponse, fields: Record<string, string> = {}): boolean {
  response.writeHead(200, fields)
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const send = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', send)
  send()
  return true
}

/** Sends two million chunks of one byte. */
function manyChunks({ socket }: ServerResponse): boolean {
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(2_000_000))
  socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
  socket?.end(Buffer.concat([chunks, Buffer.from('0\r\n\r\n')]))
  return true
}

describe('serve-dist carry', () => {
  test('adds a file whose bytes are also a variant that the site does not send', async () => {
    const directory = await newBuild()
    const text = files['assets/a-1.js'] ?? ''
    const br = brotliCompressSync(text)
    const [digest, size] = [sha256Of(br), br.length]
    const listed = [
      { path: 'assets/a-1.js', size: text.length, sha256: sha256Of(text) },
      { path: 'assets/b-1.woff2', size, sha256: digest },
    ]
    const withVariants = listed.map((file, index) =>
      Object.assign({ variants: index === 0 ? [{ coding: 'br' as const, size, sha256: digest }] : [] }, file),
    )
    const { port } = await startSite({
      list: listOf([{ files: withVariants }]),
      answer: ({ url = '' }, response) =>
        url === listPath ? undefined : response.end(url.endsWith('woff2') ? br : text),
    })
    expect(await carryFrom(port, directory)).toMatchObject({ files: 2 })
    expect(await carriedIn(directory)).toContain(`kept/${digest}`)
    const server = await startServer(directory)
    expect((await rawRequest(server.port, { target: '/assets/b-1.woff2' })).body).toEqual(br)
  })

  test('adds only files in folders that the new build has', async () => {
    const directory = await newBuild()
    const names = ['assets/a-1.js', 'api/me.svg', '__serve-dist/a.js', 'favicon.ico', 'other/assets/a.js']
    const { port } = await startSite({
      list: listOf([{ files: listedFiles(Object.fromEntries(names.map((name) => [name, 'a']))) }]),
      answer: ({ url = '' }, response) => (url === listPath ? undefined : response.end('a')),
    })
    await carryFrom(port, directory)
    const [build] = await carriedBuilds(directory)
    expect(build?.files.map(({ path }) => path)).toEqual(['assets/a-1.js'])
  })

  test('replaces links instead of following them, and rejects a link as the folder', async () => {
    const directory = await newBuild()
    const outside = join(await temporaryDirectory(), 'outside')
    await writeFile(outside, 'untouched')
    await mkdir(join(directory, carriedFolder), { recursive: true })
    for (const { sha256 } of listedFiles(files))
      await symlink(outside, join(directory, carriedFolder, sha256))
    const { port } = await startSite()
    await carryFrom(port, directory)
    expect(await readFile(outside, 'utf8')).toBe('untouched')
    await rm(join(directory, carriedFolder), { recursive: true })
    await symlink(dirname(outside), join(directory, carriedFolder))
    await expect(carryFrom(port, directory)).rejects.toThrow('the folder is a symbolic link')
    expect(await readdir(dirname(outside))).toContain('outside')
  })

  test('adds the files that the new build lacks, with their variants', async () => {
    const directory = await buildFixture({ 'index.html': 'new', 'assets/b-1.css': 'of the new build' })
    const { port, requests } = await startSite()
    const { code, stdout, stderr } = await runCarry(port, directory)
    const place = `http://127.0.0.1:${port}`
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      new RegExp(`^carried 2 files of 1 earlier build from ${place}: .* downloaded\n  deltas: none.*\n$`),
    )
    expect(requests.filter((request) => request.startsWith('b-1'))).toEqual([])
    const [build] = await carriedBuilds(directory)
    expect(build).toMatchObject({ id: current, superseded: expect.stringMatching(/Z$/) })
    expect(build?.files.map(({ path, variants }) => [path, variants.length])).toEqual([
      ['assets/a-1.js', 1],
      ['assets/c-1.woff2', 1],
    ])
    for (const name of await readdir(join(directory, carriedFolder))) {
      expect(sha256Of(await readFile(join(directory, carriedFolder, name)))).toBe(name)
    }
    expect(await readFile(join(directory, 'assets/b-1.css'), 'utf8')).toBe('of the new build')
  })

  test.each([
    ['404', (response: ServerResponse) => response.writeHead(404, { 'content-type': 'text/html' }).end()],
    ['a page', (response: ServerResponse) => response.setHeader('content-type', 'text/html').end('<p>')],
  ])('succeeds if the site answers %s instead of a list', async (_what, end) => {
    const { port } = await startSite({ answer: (_request, response) => end(response) })
    const directory = await newBuild()
    const { code, stdout, stderr } = await runCarry(port, directory)
    const line = `nothing to carry: http://127.0.0.1:${port} has no list of hashed files\n`
    expect([code, stdout, stderr]).toEqual([0, line, ''])
    expect(await carriedIn(directory)).toEqual([])
  })

  test('says that there is nothing to carry from a site with this build, or with no other files', async () => {
    const directory = await newBuild()
    const same = await startServer(directory)
    const place = `nothing to carry: http://127.0.0.1`
    expect(await runCarry(same.port, directory)).toMatchObject({
      stdout: `${place}:${same.port} serves this build, and no earlier ones\n`,
    })
    for (const list of [listOf([]), listOf([{ files: listedFiles({ 'assets/new-2.js': 'new' }) }])]) {
      const { port } = await startSite({ list })
      expect(await runCarry(port, directory)).toMatchObject({
        stdout: `${place}:${port} has no hashed files to add to this build\n`,
      })
    }
  })

  test.each([
    [404, 'The site lists this file. If its folder was changed, restart or reload its server.'],
    [401, 'Check the URL, the headers of --header and the log of the site.'],
  ])('names the fix for a file that gets a %i', async (status, fix) => {
    const { port } = await startSite({
      answer: ({ url }, response) => (url === listPath ? undefined : response.writeHead(status).end()),
    })
    await expect(carryFrom(port, await newBuild())).rejects.toThrow(`answers ${status}. ${fix}`)
  })

  test('fails if the site is unreachable, or warns with --if-possible', async () => {
    const directory = await newBuild()
    const failed = await runCarry(9, directory)
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    const fix = 'Check the URL and that the site runs.'
    expect(failed.stderr).toMatch(/^serve-dist: SD_SITE_UNAVAILABLE: .*ECONNREFUSED/)
    expect(failed.stderr).toMatch(`${fix} --if-possible lets the command succeed without the site.\n`)
    const warned = await runCarry(9, directory, ['--if-possible'])
    expect([warned.code, warned.stdout]).toEqual([0, ''])
    expect(warned.stderr).toMatch(/^serve-dist: warning: nothing carried: .*ECONNREFUSED.*\n$/)
    expect(warned.stderr.endsWith(`${fix}\n`)).toBe(true)
  })

  test.each([
    ['plain HTTP to another machine', 'http://example.org', 'expected an address with https://'],
    ['another protocol', 'ftp://127.0.0.1', 'expected an address with https://'],
    ['a password', 'https://a:b@example.org', 'without query, fragment and password'],
    [
      'an address without a scheme',
      'localhost:4173',
      'localhost:4173: expected a URL. Write http://localhost:4173\n',
    ],
    [
      'a host without a scheme',
      'example.org/a',
      'example.org/a: expected a URL. Write https://example.org/a\n',
    ],
    ['an empty variable', '', 'the address of the site is empty'],
  ])('rejects %s', async (_what, url, message) => {
    const { code, stderr } = await spawnCommand(['carry', url, await newBuild()]).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  test('connects over TLS only if the certificate is trusted', async () => {
    const tls = await writeCertificate()
    const { port } = await startServer(await buildFixture(files, { isHashed: () => true }), { tls })
    const directory = await newBuild()
    const args = ['carry', `https://localhost:${port}`, directory]
    const untrusted = await spawnCommand(args).exited
    expect([untrusted.code, untrusted.stderr]).toEqual([
      1,
      expect.stringContaining('self-signed certificate'),
    ])
    const env = { NODE_EXTRA_CA_CERTS: tls.cert }
    const { code, stdout, stderr } = await spawnCommand(args, { env }).exited
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      expect.stringMatching(/^carried 3 files of 1 earlier build/),
    ])
  })

  test('needs a finished build', async () => {
    const { port } = await startSite()
    const { stderr } = await runCarry(port, 'none')
    expect(stderr).toContain('SD_BUILD_NOT_FOUND')
  })
})

describe('a file with a gzip variant', () => {
  test('is decoded from it, and not downloaded', async () => {
    const path = 'assets/a-1.js'
    const text = files[path] ?? ''
    const { port, requests } = await startSite({ list: listOf([{ files: [listedWithGzip(path, text)] }]) })
    const directory = await newBuild()
    expect(await carryFrom(port, directory)).toMatchObject({ downloadedBytes: gzipSync(text).length })
    expect(requests).toEqual([`${listPath} identity`, 'a-1.js gzip'])
    expect(await readFile(join(directory, carriedFolder, sha256Of(text)), 'utf8')).toBe(text)
  })

  test.each([
    ['the site does not send this variant', 3000, 100],
    ['it is larger than 1 MiB', 2 ** 20 + 1, 100],
    ['its variant is not smaller', 3000, 3000],
  ])('is downloaded if %s', async (why, size, encodedSize) => {
    const [text, encoded] = ['x'.repeat(size), 'y'.repeat(encodedSize)]
    const { port, requests } = await startSite({
      list: listOf([{ files: [listedWithGzip('assets/a-1.js', text, Buffer.from(encoded))] }]),
      answer({ url = '', headers }, response) {
        if (url === listPath) return undefined
        const isGzip = headers['accept-encoding'] === 'gzip' && !why.startsWith('the site')
        if (isGzip) response.setHeader('content-encoding', 'gzip')
        return response.end(isGzip ? encoded : text)
      },
    })
    await carryFrom(port, await newBuild())
    expect(requests).toContain('a-1.js identity')
  })
})

describe('a site that sends something else', () => {
  const member = gzipSync(Buffer.alloc(2 ** 20))
  const bomb = Buffer.concat(Array.from({ length: 850 }, () => member))
  const gzipOf = (content: Buffer): SiteOptions => ({
    list: listOf([{ files: [listedWithGzip('assets/a-1.js', 'x'.repeat(3000), content)] }]),
    answer: ({ url }, response) =>
      url === listPath ? undefined : response.writeHead(200, { 'content-encoding': 'gzip' }).end(content),
  })
  const hostile: readonly (readonly [string, SiteOptions, RegExp])[] = [
    [
      'other bytes',
      { answer: ({ url }, response) => (url === listPath ? undefined : response.end('x'.repeat(3000))) },
      /does not match its digest|more than/,
    ],
    [
      'an endless file',
      { answer: ({ url }, response) => (url === listPath ? undefined : endless(response)) },
      /more than/,
    ],
    [
      'a short file',
      { answer: ({ url }, response) => (url === listPath ? undefined : response.end('x')) },
      /does not match its digest/,
    ],
    [
      'a compressed file that was not requested',
      {
        answer: ({ url }, response) =>
          url === listPath
            ? undefined
            : response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
      },
      /does not match its digest|more than/,
    ],
    [
      'a gzip variant of another file',
      gzipOf(gzipSync('y'.repeat(3000))),
      /does not decode to the digest and size/,
    ],
    [
      'a gzip variant of a shorter file',
      gzipOf(gzipSync('x'.repeat(2999))),
      /does not decode to the digest and size/,
    ],
    [
      'a gzip variant that expands',
      gzipOf(gzipSync(Buffer.alloc(1_000_000))),
      /does not decode to the digest and size/,
    ],
    [
      'a gzip variant that is not gzip',
      gzipOf(Buffer.from('x'.repeat(100))),
      /does not decode to the digest and size/,
    ],
    ['an endless list', { answer: (_request, response) => endless(response) }, /more than/],
    [
      'a list that expands',
      {
        answer: (_request, response) =>
          response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(10_000_000))),
      },
      /is compressed/,
    ],
    ['no JSON', { list: '{"version":1,' }, /list of hashed files is invalid: .*not JSON/],
    ['another version', { list: '{"version":7}' }, /expected one of 1/],
    [
      'a path out of the folder',
      { list: listOf([{ files: listedFiles({ 'assets/../../../a.js': 'x' }) }]) },
      /it has the segment ".."/,
    ],
    ['a page', { list: listOf([{ files: listedFiles({ 'index2.html': '<p>' }) }]) }, /a script, style, font/],
    [
      'a service worker',
      { list: listOf([{ files: listedFiles({ 'sw.js': 'x' }) }]) },
      /a script, style, font/,
    ],
    [
      'other bytes than UTF-8',
      { list: Buffer.from('{"version":1,"builds":[]}\xff', 'latin1') },
      /is not UTF-8/,
    ],
    [
      'a line break in a message',
      { list: '{\n::warning::x' },
      /list of hashed files is invalid: [^\n]*not JSON[^\n]*$/,
    ],
    [
      'another size of a file of the new build',
      { list: listOf([{ files: listedFiles({ 'assets/d-1.js': 'new' }, { size: 2 ** 50 }) }]) },
      /the new build has another size for its digest/,
    ],
    [
      'a digest with two sizes',
      { list: listOf([{ files: listedFiles(files, { sha256: 'a'.repeat(64) }) }]) },
      /a digest has two sizes/,
    ],
    [
      'a file with another size than in the list',
      {
        list: listOf([
          { files: listedFiles(files).map((file) => Object.assign({}, file, { size: file.size + 1 })) },
        ]),
      },
      /does not match its digest and size/,
    ],
    [
      'a redirect of a file with a long path, which the message shortens',
      {
        list: listOf([{ files: listedFiles({ [`assets/${'a'.repeat(5000)}.js`]: 'x' }) }]),
        answer: ({ url }, response) => (url === listPath ? undefined : response.writeHead(302).end()),
      },
      /^.{100,400}$/,
    ],
    [
      'more bytes than the limit',
      { list: listOf([{ files: listedFiles({ 'assets/a.js': 'x' }, { size: 2 ** 50 }) }]) },
      /Pass a larger --keep-bytes/,
    ],
    [
      'a redirect of the list',
      {
        answer: (_request, response) => response.writeHead(302, { location: 'https://other.example/' }).end(),
      },
      /redirects to https:\/\/other\.example\//,
    ],
    [
      'a redirect of a file',
      {
        answer: ({ url }, response) =>
          url === listPath ? undefined : response.writeHead(307, { location: '/assets/x.js' }).end(),
      },
      /redirects to \/assets\/x\.js/,
    ],
  ]

  test.each(hostile)('is rejected, and leaves nothing behind: %s', async (_what, options, message) => {
    const { port } = await startSite(options)
    const directory = await newBuild()
    const failure: unknown = await carryFrom(port, directory).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'SD_SITE_INVALID', message: expect.stringMatching(message) })
    expect(await carriedIn(directory)).toEqual([])
  })

  test('fails also with --if-possible, and keeps the files of an earlier carry', async () => {
    const directory = await newBuild()
    await carryFrom((await startSite()).port, directory)
    const before = await carriedIn(directory)
    const { port } = await startSite({
      list: listOf([{ files: listedFiles({ ...files, 'assets/d-1.js': 'd' }) }]),
      answer: ({ url }, response) => (url === '/assets/d-1.js' ? response.end('e') : undefined),
    })
    const { code, stderr } = await runCarry(port, directory, ['--if-possible'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/SD_SITE_INVALID: .*\/assets\/d-1\.js/)])
    expect(await carriedIn(directory)).toEqual(before)
  })

  test('receives headers, but no other origin does', async () => {
    const other = await startSite()
    const seen: unknown[] = []
    const { port } = await startSite({
      answer({ url, headers }, response) {
        seen.push(headers.authorization)
        const location = `http://127.0.0.1:${other.port}${url}`
        return url === listPath ? undefined : response.writeHead(302, { location }).end()
      },
    })
    const { code } = await runCarry(port, await newBuild(), ['--header', 'Authorization: Basic eA=='])
    expect([code, new Set(seen), other.requests]).toEqual([1, new Set(['Basic eA==']), []])
  })

  test.each<readonly [string, SiteOptions]>([
    ['a million wrong entries', { list: `{"version":1,"builds":[${'1,'.repeat(4_000_000)}1]}` }],
    ['deep lists', { list: '['.repeat(8_000_000) }],
    [
      'many short texts',
      { list: `[${Array.from({ length: 1_000_000 }, (_, n) => `"${n.toString(36)}"`).join()}]` },
    ],
    [
      'a gzip variant that expands',
      {
        ...gzipOf(bomb),
        list: listOf([{ files: [listedWithGzip('assets/a-1.js', 'x'.repeat(2 ** 20), bomb)] }]),
      },
    ],
    ['an endless list', { answer: (_request, response) => endless(response) }],
    ['many chunks of one byte', { answer: (_request, response) => manyChunks(response) }],
    [
      'eight files in chunks of one byte',
      {
        list: listOf([
          {
            files: Array.from({ length: 8 }, (_, n) =>
              Object.assign({
                path: `assets/${n}.js`,
                size: 8_000_000,
                sha256: `${n}`.repeat(64),
                variants: [],
              }),
            ),
          },
        ]),
        answer: ({ url }, response) => (url === listPath ? undefined : manyChunks(response)),
      },
    ],
    [
      'an endless file of 200 MB',
      {
        list: listOf([{ files: listedFiles({ 'assets/a.js': 'x' }, { size: 200_000_000 }) }]),
        answer: ({ url }, response) => (url === listPath ? undefined : endless(response)),
      },
    ],
  ])('takes less than 300 MB: %s', async (what, options) => {
    const { port } = await startSite(options)
    const report = 'process.on("exit", () => console.error("peak", process.resourceUsage().maxRSS))'
    const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(report)}`]
    const args = ['carry', `http://127.0.0.1:${port}`, await newBuild()]
    const { code, stderr } = await spawnCommand(args, { nodeOptions }).exited
    const problem = what.includes('chunks') ? /arrives in chunks of a few bytes/ : /SD_SITE_INVALID/
    expect([code, stderr]).toEqual([1, expect.stringMatching(problem)])
    expect(Number(/peak (\d+)/.exec(stderr)?.[1])).toBeLessThan(300_000)
  })
})

test('an invalid list deletes nothing behind a link', async () => {
  const [directory, outside] = [await newBuild(), await temporaryDirectory()]
  const precious = 'a'.repeat(64)
  await writeFile(join(outside, precious), 'x')
  await symlink(outside, join(directory, carriedFolder))
  const { port } = await startSite({ list: '{}' })
  await expect(carryFrom(port, directory)).rejects.toMatchObject({ code: 'SD_SITE_INVALID' })
  expect(await readdir(outside)).toEqual([precious])
})

test('a folder that a link replaces during a carry does not change', async () => {
  const [directory, outside] = [await newBuild(), await temporaryDirectory()]
  await writeFile(join(outside, 'precious.txt'), 'x')
  const folder = join(directory, carriedFolder)
  const { port } = await startSite({
    list: listOf([{ files: listedFiles({ 'assets/c-1.woff2': 'c' }, { variants: [] }) }]),
    answer({ url }) {
      if (url === listPath) return
      rmSync(folder, { recursive: true })
      symlinkSync(outside, folder)
    },
  })
  await expect(carryFrom(port, directory)).rejects.toMatchObject({
    code: 'SD_WRITE_FAILED',
    message: expect.stringContaining('the folder is a symbolic link'),
  })
  expect(await readdir(outside)).toContain('precious.txt')
})

test('waits for a slow answer longer than the server keeps idle connections', async () => {
  const { port, requests } = await startSite({
    list: listOf([{ files: listedFiles({ 'assets/c-1.woff2': 'c' }, { variants: [] }) }]),
    answer({ url }, response) {
      if (url !== listPath) return setTimeout(() => response.end('c'), 1500)
      response.setHeader('Connection', 'keep-alive').setHeader('Keep-Alive', 'timeout=2')
      return undefined
    },
  })
  await carryFrom(port, await newBuild())
  expect(requests.filter((line) => line.startsWith('c-1.woff2'))).toHaveLength(1)
})

describe('a carry that was interrupted', () => {
  test('continues with the files that it lacks', async () => {
    let isBroken = true
    const { port, requests } = await startSite({
      answer: ({ url }, response) =>
        isBroken && url?.endsWith('c-1.woff2') ? response.destroy() : undefined,
    })
    const directory = await newBuild()
    await expect(carryFrom(port, directory)).rejects.toMatchObject({ code: 'SD_SITE_UNAVAILABLE' })
    expect(await carriedIn(directory)).not.toContain('kept.json')
    const [damaged = ''] = await readdir(join(directory, carriedFolder))
    await writeFile(join(directory, carriedFolder, damaged), 'damaged')
    const isThere = async (): Promise<number> => (await readdir(join(directory, carriedFolder))).length
    const known = await isThere()
    isBroken = false
    requests.length = 0
    await carryFrom(port, directory)
    expect(requests).toHaveLength(1 + 6 - known + 1)
    expect(await isThere()).toBe(6)
    const [build] = await carriedBuilds(directory)
    expect(build?.files).toEqual(listedFiles(files))
  })

  test('repeats a request whose connection broke', async () => {
    const broken = new Set<string>()
    const { port } = await startSite({
      answer({ url = '', headers }, response) {
        const name = `${url} ${String(headers['accept-encoding'])}`
        if (broken.has(name)) return undefined
        broken.add(name)
        return response.destroy()
      },
    })
    expect(await carryFrom(port, await newBuild())).toMatchObject({ files: 3 })
  })

  test('lets another carry into the same folder wait, with a warning', async () => {
    const held: ServerResponse[] = []
    const first = await startSite({
      answer({ url }, response) {
        return url === listPath ? held.push(response) : undefined
      },
    })
    const path = 'assets/b-1.css'
    const listed = listedFiles({ [path]: files[path] ?? '' })
    const second = await startSite({ list: listOf([{ files: listed }]) })
    const directory = await newBuild()
    const running = carryFrom(first.port, directory)
    await vi.waitFor(() => expect(first.requests).toHaveLength(1))
    const warnings: string[] = []
    const waiting = carryFrom(second.port, directory, { onWarning: (text) => warnings.push(text) })
    const warning = `another compression or carry of ${directory} is running. This one waits until it ends.`
    await vi.waitFor(() => expect(warnings).toEqual([warning]))
    expect(second.requests).toEqual([])
    held[0]?.setHeader('content-type', 'application/json').end(honestList)
    expect([(await running)?.files, (await waiting)?.files]).toEqual([3, 1])
    expect((await carriedBuilds(directory)).flatMap((build) => build.files)).toEqual(listed)
    expect(await carriedIn(directory)).toHaveLength(1 + 1 + 2)
  })

  test('stops at a signal, and says how to continue', async () => {
    const { port, requests } = await startSite({ answer: ({ url }) => url !== listPath || undefined })
    const directory = await newBuild()
    const command = spawnCommand(['carry', `http://127.0.0.1:${port}`, directory])
    await vi.waitFor(() => expect(requests.length).toBeGreaterThan(1))
    command.child.kill('SIGINT')
    const { code, stderr } = await command.exited
    expect([code, stderr]).toEqual([
      130,
      'serve-dist: stopped: the folder is unchanged. Run the command again to continue.\n',
    ])
  })
})

describe('the files of a carry', () => {
  const builds = [
    { files: listedFiles({ 'assets/a-1.js': files['assets/a-1.js'] ?? '' }) },
    {
      id: older,
      superseded: '2026-01-31T12:00:00Z',
      files: listedFiles({ 'assets/b-1.css': files['assets/b-1.css'] ?? '' }),
    },
  ]

  test.each([
    ['are those of all builds within the count', { age: 0 }, [current, older]],
    ['omit builds beyond the count', { age: 0, generations: 1 }, [current]],
    ['include builds within the age', { age: Number.MAX_SAFE_INTEGER, generations: 1 }, [current, older]],
    ['omit builds beyond the limit of bytes', { bytes: 4000 }, [current]],
  ])('%s', async (_what, retention, expected) => {
    const directory = await newBuild()
    await carryFrom((await startSite({ list: listOf(builds) })).port, directory, { retention })
    expect((await carriedBuilds(directory)).map(({ id }) => id)).toEqual(expected)
  })

  test('count from now if the site names a time in the future', async () => {
    const list = listOf([{ superseded: '2999-01-31T12:00:00Z', files: listedFiles(files) }])
    const directory = await newBuild()
    await carryFrom((await startSite({ list })).port, directory)
    const [{ superseded = '' } = {}] = await carriedBuilds(directory)
    expect(Date.parse(superseded)).toBeLessThanOrEqual(Date.now())
  })

  test('omit variants that a CDN removed', async () => {
    const { port } = await startSite({
      answer: ({ url = '' }, response) => (url === listPath ? undefined : response.end(files[url.slice(1)])),
    })
    const directory = await newBuild()
    await carryFrom(port, directory)
    const [build] = await carriedBuilds(directory)
    expect(build?.files).toEqual(listedFiles(files, { variants: [] }))
  })

  test('are not published to a store', async () => {
    const directory = await newBuild()
    await carryFrom((await startSite()).port, directory)
    const store = join(await temporaryDirectory(), 'store')
    const { code, stderr } = await spawnCommand(['publish', directory, '--store', store]).exited
    const file = join(directory, carriedListPath)
    const warning = `serve-dist: warning: ${file}: the files that serve-dist carry added are not published\n`
    expect([code, stderr]).toEqual([0, warning])
  })

  test('replace those of an earlier carry', async () => {
    const directory = await newBuild()
    await carryFrom((await startSite()).port, directory)
    await carryFrom((await startSite({ list: listOf([]) })).port, directory)
    expect(await carriedIn(directory)).toEqual(['kept.json'])
  })

  test('are below the path of the address', async () => {
    const { port, requests } = await startSite({
      answer: (_request, response) => response.writeHead(404).end(),
    })
    await carryFrom(port, await newBuild(), { address: new URL(`http://127.0.0.1:${port}/site`) })
    expect(requests).toEqual(['/site/__serve-dist/kept.json identity'])
  })
})
