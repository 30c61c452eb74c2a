import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { manifestPath, parseManifest, type ServingRules, stringifyManifest } from '@serve-dist/manifest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { blackBoxRows } from '../support/black-box-rows.ts'
import { blackBoxFiles } from '../support/black-box.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { startListener } from '../support/start-listener.ts'
import { type RawRequest, rawRequest } from '../support/raw-request.ts'

const files = {
  ...blackBoxFiles,
  'missing.html': 'nothing here',
  'assets/app-1a2b3c.js.map': '{}',
  _headers: '/docs/*\n  X-Section: docs\n/*.txt\n  X-Text: yes',
  _redirects: '/old/:year/* /docs/:splat?y=:year 301\n/teapot /about.html 200\n/hidden /missing.html 404',
}
const rules: ServingRules = {
  securityHeaders: true,
  csp: { 'connect-src': ["'self'"] },
  cors: ['assets/**'],
  headers: { '**/*.html': { 'X-Page': 'yes' } },
  cacheControl: { '*.png': 'max-age=60' },
  redirects: [
    { from: '/pixels.png', to: '/about', force: true },
    { from: '/small.txt', to: '/missing.html', status: 404, force: true },
  ],
}

/** Adds the hash of the front page's script. */
async function describePolicies(directory: string): Promise<void> {
  const file = join(directory, manifestPath)
  const manifest = parseManifest(await readFile(file, 'utf8'))
  const policy = { scripts: [`sha256-${'a'.repeat(43)}=`] }
  const described = manifest.files.map((each) => (each.path === 'index.html' ? { ...each, policy } : each))
  await writeFile(file, stringifyManifest({ ...manifest, policy: {}, files: described }))
}

function shown({ status, fields, body }: RawResponse): unknown {
  return { status, fields: fields.filter(([name]) => name !== 'Date'), body: body.toString('latin1') }
}

/** The rows of the black-box suite, and a request for each kind of rule. */
const requests: readonly RawRequest[] = [
  ...blackBoxRows.map(({ request }) => request),
  ...[
    '/old/2026/a/b?c',
    '/teapot',
    '/hidden',
    '/pixels.png',
    '/small.txt',
    '/docs/',
    '/app',
    '/later.html',
  ].map((target): RawRequest => ({ target, fields: { Accept: 'text/html' } })),
  { target: '/assets/app-1a2b3c.js', method: 'OPTIONS' },
]

describe.each([
  ['in memory', 64 * 1024 * 1024],
  ['streamed', 0],
])('a handler of a cloned site, bodies %s', (_bodies, memoryBudget) => {
  let original: number
  let cloned: number
  beforeAll(async () => {
    const directory = await buildFixture(files, {
      appType: 'spa',
      assetsDirectory: 'assets',
      isHashed: (path) => path.includes('-1a2b3c'),
    })
    await describePolicies(directory)
    const site = await loadSite(directory, { memoryBudget, rules })
    // Rules find this file on the disk. The clone must know it.
    await writeFile(join(directory, 'later.html'), 'later')
    original = await startListener(createHandler(site, { fileSystemFallback: true }))
    cloned = await startListener(createHandler(structuredClone(site), { fileSystemFallback: true }))
  })

  test.each(requests.map((request) => [request.method ?? 'GET', request.target ?? '/', request] as const))(
    'answers %s %s with the same bytes',
    async (_method, _target, request) => {
      const expected = await rawRequest(original, request)
      expect(shown(await rawRequest(cloned, request))).toEqual(shown(expected))
      const condition = { 'If-None-Match': expected.field('ETag') ?? '*' }
      const again = { ...request, fields: { ...request.fields, ...condition } }
      expect(shown(await rawRequest(cloned, again))).toEqual(shown(await rawRequest(original, again)))
    },
  )
})
