import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { explainRequest, loadExplainedSite } from '../../src/command/explain-command.ts'
import type { ExplainFlags } from '../../src/command/flags.ts'
import { explainFields } from '../../src/explain/explain-fields.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'

const rules = {
  securityHeaders: true,
  cors: ['assets/**'],
  cacheControl: { '*.txt': 'max-age=60' },
  headers: { '**/*.html': { 'Content-Security-Policy': "default-src 'self'" } },
  redirects: [
    { from: '/old/:name', to: '/about', status: 301 },
    { from: '/hidden.txt', to: '/404.html', status: 404, force: true },
  ],
} as const

let directory: string
let config: string
let singlePage: string
let module: string
beforeAll(async () => {
  directory = await buildFixture(
    {
      'index.html': compressibleText(3000, 'page'),
      'about.html': '<p>about',
      '404.html': compressibleText(2000, 'none'),
      'assets/app-1a2b3c4d.js': compressibleText(5000, 'script'),
      'a.txt': 'a',
      'hidden.txt': 'hidden',
      _headers: '/a.txt\n  X-From: file\n',
    },
    { assetsDirectory: 'assets', isHashed: (path) => path.startsWith('assets/') },
  )
  await writeFile(join(directory, 'late.txt'), 'late')
  const beside = await writeFixture({
    'serve-dist.config.json': JSON.stringify(rules),
    'single-page.json': JSON.stringify({ fallback: 'spa' }),
    'entry.mjs': 'export const fetch = () => new Response("made", { status: 203 })',
  })
  config = join(beside, 'serve-dist.config.json')
  singlePage = join(beside, 'single-page.json')
  module = join(beside, 'entry.mjs')
})

const targets =
  `/ /about /about/ /about.html /assets/app-1a2b3c4d.js /a.txt /hidden.txt /late.txt /old/x /none
  /assets/none.js /a.txt.br /.env /% // /A.TXT /index.html?x`.split(/\s+/)
const orNothing = (...values: readonly string[]): fc.Arbitrary<string | undefined> =>
  fc.constantFrom(undefined, ...values)
const asked = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'OPTIONS', 'POST'),
  target: fc.constantFrom(...targets),
  fields: fc.record({
    Accept: orNothing('text/html', '*/*'),
    'Accept-Encoding': orNothing('br', 'gzip, zstd;q=0.5', 'identity;q=0', '*'),
    Range: orNothing('bytes=0-9', 'bytes=90000-', 'bytes=1-2,4-5'),
    'If-None-Match': orNothing('*', '"x"'),
    'If-Match': orNothing('"x"'),
  }),
})

const ways: readonly (readonly [
  string,
  () => Partial<ExplainFlags>,
  () => Omit<ServeOptions, 'directory'>,
])[] = [
  ['as it is', () => ({}), () => ({})],
  ['with a configuration', () => ({ config }), () => ({ site: { rules } })],
  [
    'with a fallback, and files on the disk',
    () => ({ config: singlePage, fsFallback: true }),
    () => ({ site: { rules: { fallback: 'spa' } }, handler: { fileSystemFallback: true } }),
  ],
  ['with an application', () => ({ ssr: module }), () => ({ ssr: module })],
  [
    'with an application and a fallback',
    () => ({ ssr: module, config: singlePage }),
    () => ({ ssr: module, site: { rules: { fallback: 'spa' } } }),
  ],
]

describe('explain', () => {
  test.each(ways)("predicts the server's answer, %s", async (_way, given, options) => {
    const { site = {}, ...others } = options()
    const { port } = await startServer(directory, { ...others, site: { unlisted: 'ignore', ...site } })
    const flags = { ...given(), method: 'GET' }
    const loaded = await loadExplainedSite(directory, flags)
    await fc.assert(
      fc.asyncProperty(asked, async ({ method, target, fields }) => {
        const sent = Object.entries(fields).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value] as const],
        )
        const explained = await explainRequest(loaded, target, { ...flags, method, header: sent })
        const response = await rawRequest(port, {
          method,
          target,
          fields: { ...Object.fromEntries(sent), ...(method === 'POST' && { 'Content-Length': '0' }) },
        })
        const { answer } = explained
        expect(response.status).toBe(answer?.status ?? 203)
        const told = explainFields(loaded, explained)
        const seen = response.fields.filter(([name]) => !/^(?:date|connection|keep-alive)$/i.test(name))
        expect(told.map(({ name, value }) => [name, value])).toEqual(answer === undefined ? [] : seen)
      }),
      { numRuns: 150 },
    )
  })

  test('prints the answer, its steps and the rules that set its fields', async () => {
    const given = ['--config', config, '-H', 'Accept-Encoding: br']
    const args = ['explain', '/assets/app-1a2b3c4d.js', directory, ...given, '-H', 'If-None-Match: "x"']
    const { exited } = spawnCommand(args)
    const { code, stdout, stderr } = await exited
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^GET \/assets\/app-1a2b3c4d\.js\nAccept-Encoding: br\nIf-None-Match: "x"\n\n200 OK · /,
    )
    expect(stdout).toMatch(
      /^5\. Accept-Encoding: br: br is wanted most \(Representations\)\n {3}- zstd, \d+ bytes: not accepted \(q=0\)$/m,
    )
    expect(stdout).toMatch(/^6\. If-None-Match: "x" holds \(ETag /m)
    expect(stdout).toMatch(/^Timing-Allow-Origin: \*\n {3}the rule for assets\/\*\*, /m)
    expect(stdout).toMatch(
      /^Cache-Control: .*\n {3}the build or a rule says that the name has a content hash$/m,
    )
  })

  test('explains the 404 of a file that the manifest does not list, also as JSON', async () => {
    const { exited } = spawnCommand(['explain', '/late.txt', directory, '--json'])
    const { code, stdout } = await exited
    const said: unknown = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(said).toMatchObject({ version: 1, by: 'server', status: 404, request: { target: '/late.txt' } })
    expect(stdout).toContain('the manifest does not list it. Run serve-dist compress to add it')
  })

  test.each([
    [['explain'], /expected <path>, found nothing/],
    [['explain', 'about'], /expected a path that begins with a slash, such as \/about/],
    [['explain', '/', '-H', 'x'], /--header: expected a header such as/],
  ])('rejects %j', async (args, expected) => {
    const { code, stderr } = await spawnCommand(args).exited
    expect([code, stderr]).toEqual([1, expect.stringMatching(expected)])
  })
})
