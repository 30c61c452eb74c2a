import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { PeerServer } from '../../../../e2e/src/start-peer-server.ts'
import { findProgram } from '../../../../scripts/find-program.mjs'
import { exportSite } from '../../src/export/export-site.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { Site } from '../../src/site/site.ts'
import { blackBoxFiles } from '../support/black-box.ts'
import { type BlackBoxRow, blackBoxRows } from '../support/black-box-rows.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compareWithServeDist } from '../support/compare-with-serve-dist.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { hostileFiles, hostilePaths } from '../support/hostile-site.ts'
import { rawRequest } from '../support/raw-request.ts'
import { runCheck } from '../support/run-check.ts'
import { startNginx } from '../support/start-nginx.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const nginx = await findProgram('nginx')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

/** Rows of the black-box suite that fail with nginx. docs/export.md lists them. */
const broken = [
  'Accept-Encoding: *',
  'Accept-Encoding: zstd;q=0.5, br;q=0.501',
  'If-Match that fails',
  'If-None-Match that matches',
  'OPTIONS',
  'a malformed path',
  'a range that is ignored: bytes=5-2',
  'a range that is ignored: bytes=x',
  'a range that is not there: bytes=-0',
  'a range that is not there: bytes=9999999-',
  'a range: an end beyond the file',
  'an encoded NUL',
  'an identity that is refused',
  'an unknown path by POST',
  'another method',
]

const differences = [
  // nginx answers 404 for an encoded control character, and escapes more characters of a Location.
  /%0[ad]/,
  /\/(?:quoted|tail) location: /,
  /^\S*%2F\S* /,
  /^\/(?:app\/)?about x-ticks: undefined, /,
]

describe.skipIf(nginx === undefined && !isRequired)('nginx with an exported folder', () => {
  describe('passes rows', () => {
    let directory: string
    let host: PeerServer
    beforeAll(async () => {
      directory = await buildFixture(blackBoxFiles, {
        appType: 'spa',
        assetsDirectory: 'assets',
        isHashed: (name) => name.includes('-1a2b3c'),
      })
      host = await startWith(await loadSite(directory))
    })
    afterAll(() => host?.stop())

    test('passes the black-box suite except for rows that docs/export.md lists', async () => {
      const found = []
      for (const row of blackBoxRows) {
        if (!(await isKept(row, host.port, directory))) found.push(row.what)
      }
      expect(found.toSorted()).toEqual(broken)
    })

    test('passes `serve-dist check`', async () => {
      const run = await runCheck([`http://127.0.0.1:${host.port}`, '--build', directory, '--all'])
      expect([run.found, run.stopped]).toEqual([[], undefined])
    })
  })

  describe.each(['/', '/app/'])('with hostile names below %s', (base) => {
    let site: Site
    let host: PeerServer
    beforeAll(async () => {
      const directory = await buildFixture(hostileFiles, {
        base,
        appType: 'mpa',
        assetsDirectory: 'assets',
        isHashed: (name) => name.includes('1a2b3c'),
        serving: { csp: true, securityHeaders: true, cors: ['assets/**'] },
      })
      site = await loadSite(directory, { onWarning: () => {} })
      host = await startWith(site)
    })
    afterAll(() => host?.stop())

    test('answers like serve-dist', async () => {
      const prefixed = hostilePaths.map((each) => base.slice(0, -1) + each)
      const targets = new Set([...site.table.keys(), ...hostilePaths, ...prefixed])
      const wrong = await compareWithServeDist(site, host.port, [...targets])
      expect([...wrong].filter((line) => !differences.some((known) => known.test(line)))).toEqual([])
    })
  })
})

async function startWith(site: Site): Promise<PeerServer> {
  const folder = join(await temporaryDirectory(), 'out put')
  await exportSite(site, folder)
  return await startNginx(nginx ?? 'nginx', folder)
}

async function buildOf(page: string, script: string): Promise<Site> {
  const files = { 'index.html': `<!doctype html><script>${page}</script>`, [script]: compressibleText(5000) }
  const hashed = { assetsDirectory: 'assets', isHashed: (name: string) => name.startsWith('assets/') }
  return await loadSite(await buildFixture(files, { ...hashed, serving: { csp: true } }))
}

describe.skipIf(nginx === undefined && !isRequired)('nginx during an export', () => {
  test('answers from the previous build until it reloads, then from the new one', async () => {
    const folder = await temporaryDirectory()
    await exportSite(await buildOf('one()', 'assets/a-1.js'), folder)
    const host = await startNginx(nginx ?? 'nginx', folder)
    onTestFinished(() => host.stop())
    const ask = async (): Promise<readonly string[]> => {
      const page = await rawRequest(host.port, {})
      const script = await rawRequest(host.port, {
        target: '/assets/a-1.js',
        fields: { 'Accept-Encoding': 'br' },
      })
      const policy = page.field('Content-Security-Policy') ?? ''
      return [page.body.toString(), /'sha256-\S+'/.exec(policy)?.[0] ?? '', String(script.status)]
    }
    const before = await ask()
    await exportSite(await buildOf('two()', 'assets/b-2.js'), folder)
    expect(await ask()).toEqual(before)
    host.reload()
    const after = await vi.waitUntil(async () => {
      // An old nginx worker may answer the first or the second request.
      const answers = await ask()
      return answers.some((answer, index) => answer === before[index]) ? false : answers
    })
    expect(after).toEqual(['<!doctype html><script>two()</script>', expect.any(String), '404'])
    expect(after[1]).not.toBe(before[1])
  })
})

async function isKept({ request, answer }: BlackBoxRow, port: number, directory: string): Promise<boolean> {
  const { status, fields = {}, file, slice = [] } = answer
  const response = await rawRequest(port, request)
  const isSame = Object.entries(fields).every(([name, value]) => {
    // Each host supports ranges, and has its own types and lengths of errors.
    if (name === 'Accept-Ranges' || (name === 'Content-Type' && status === 404)) return true
    const given = response.field(name)
    return value instanceof RegExp ? value.test(given ?? '') : given === value
  })
  if (response.status !== status || !isSame) return false
  if (file === undefined || request.method === 'HEAD') return true
  return response.body.equals((await readFile(join(directory, file))).subarray(...slice))
}
