import { createHash, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { dictionariesOf, type Manifest, type ManifestFile } from '@serve-dist/manifest'
import { createReport, formatTerminal } from '@serve-dist/report'
import { openStore, rollback } from '@serve-dist/store'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeCertificate } from '../../packages/server/test/support/make-certificate.ts'
import { newerNode } from '../../packages/store/test/support/newer-node.ts'
import { publishWith } from '../../packages/store/test/support/publish-with.ts'
import { buildSpa, type SpaChanges } from '../src/build-spa.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { readManifest } from '../src/read-manifest.ts'
import { openReturningVisitor, type ReturningVisitor, type Visit } from '../src/open-returning-visitor.ts'
import { sendRequest } from '../src/send-request.ts'
import { serveStore } from '../src/serve-store.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { waitUntilCurrent } from '../src/wait-until-current.ts'
import { urlOfFile } from '../src/url-of-file.ts'

// Texts of examples/spa that the builds change.
const line = { 'glossary.tsx': ['at least, when maps', 'at the latest, when maps'] } as const
const styles = {
  'main.css': ['letter-spacing: -0.02em', 'letter-spacing: -0.01em'],
  'routes/species.css': ['border-radius: 2rem', 'border-radius: 1rem'],
  'species.ts': ['(2000, month - 1)', '(2001, month - 1)'],
} as const

/** Successive builds with their changes. */
const builds: readonly [string, SpaChanges][] = [
  ['the first', { hasRouterBefore: true }],
  ['one line of a shared module', { hasRouterBefore: true, edits: line }],
  ["a dependency's patch release", { edits: line }],
  ['a line of two styles and of a module of pages and a worker', { edits: { ...line, ...styles } }],
  ['the first with an import map', { hasImportMap: true }],
  ['one line of a shared module, with an import map', { hasImportMap: true, edits: line }],
]

const node = newerNode('node24')

describe.skipIf(chromiumPath === undefined || node === undefined)('a visitor of a store with deltas', () => {
  let browser: Browser
  let folder: string
  const distOf = (build: number): string => path.join(folder, String(build))
  const manifests: Manifest[] = []

  beforeAll(async () => {
    vi.stubEnv('NODE_ENV', 'production')
    folder = await mkdtemp(path.join(tmpdir(), 'serve-dist-e2e-'))
    for (const [build, [, changes]] of builds.entries()) {
      await buildSpa(distOf(build), changes)
      manifests.push(await readManifest(distOf(build)))
    }
    vi.unstubAllEnvs()
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const manifestOf = (build: number): Manifest => {
    const manifest = manifests[build]
    if (manifest === undefined) throw new Error(`there is no build ${build}`)
    return manifest
  }
  const deploy = async (where: string, build: number): Promise<void> => {
    await publishWith(node ?? '', { directory: distOf(build), where })
  }
  const visitWith = async (visitor: ReturningVisitor, build: number): Promise<Visit> => {
    const visit = await visitor.visit()
    expect(visit.complaints).toEqual([])
    await visitor.waitUntilOffered([...dictionariesOf(manifestOf(build)).values()])
    return visit
  }

  test('loads changes as deltas, build after build: a tenth of the bytes for one line', async () => {
    const store = await temporaryFolder()
    await deploy(store, 0)
    const { url } = await serveStore(store)
    const plain = await serveStore(store, ['--no-deltas'])
    const visitor = await openReturningVisitor(browser, useHostName(url))
    const other = await openReturningVisitor(browser, useHostName(plain.url))
    await visitWith(visitor, 0)
    await other.visit()
    const shares: number[] = []
    for (const build of [1, 2, 3]) {
      await deploy(store, build)
      await Promise.all([url, plain.url].map((each) => waitUntilCurrent(each, manifestOf(build).buildId)))
      const visit = await visitWith(visitor, build)
      const changed = changedBetween(build - 1, build)
      await expectDeltas(visitor, visit, changed)
      shares.push(print(builds[build]?.[0] ?? '', { visit, changed, without: await other.visit() }))
    }
    expect(shares[0]).toBeLessThanOrEqual(0.1)
  })

  test('loads only the changed chunk, as a delta, if pages have an import map of chunks', async () => {
    const store = await temporaryFolder()
    await deploy(store, 4)
    const { url } = await serveStore(store)
    const visitor = await openReturningVisitor(browser, useHostName(url))
    await visitWith(visitor, 4)
    await deploy(store, 5)
    await waitUntilCurrent(url, manifestOf(5).buildId)
    const visit = await visitWith(visitor, 5)
    const changed = changedBetween(4, 5)
    expect(changed.map((file) => file.path)).toEqual([expect.stringMatching(/^assets\/glossary-/)])
    await expectDeltas(visitor, visit, changed, 1)
    const earlier = new Set(manifestOf(4).files.map((file) => file.path))
    const loaded = [...visit.files.keys()].filter((name) => name.startsWith('assets/') && !earlier.has(name))
    expect(loaded).toEqual(changed.map((file) => file.path))
  })

  test('gets the import map suggested by a report only for builds without it', () => {
    const suggested = [1, 5].map((build) => {
      const report = createReport(manifestOf(build), { against: manifestOf(build - 1) })
      return / renamed scripts .* build\.chunkImportMap /.exec(
        formatTerminal(report, { colors: false, hasChunkImportMap: true }),
      )?.[0]
    })
    expect(suggested).toEqual([expect.any(String), undefined])
  })

  test('loads deltas over HTTP/2', async () => {
    const files = await temporaryFolder()
    const { cert, key } = makeCertificate()
    const [certFile, keyFile] = [path.join(files, 'cert.pem'), path.join(files, 'key.pem')]
    await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
    const publicKey = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' })
    const digest = createHash('sha256').update(publicKey).digest('base64')
    // If a page ignores certificate errors, Chromium caches nothing. So this one trusts the key.
    const trusting = await launchChromium([`--ignore-certificate-errors-spki-list=${digest}`])
    onTestFinished(() => trusting.close())
    const flags = ['--tls-cert', certFile, '--tls-key', keyFile]
    const { visitor, visit } = await visitAfterLine(trusting, flags)
    expect(visit.protocols).toEqual(new Set(['h2']))
    await expectDeltas(visitor, visit, changedBetween(0, 1))
  })

  test('loads deltas from several workers', async () => {
    const { visitor, visit } = await visitAfterLine(browser, ['--workers', '2'])
    expect(visit.protocols).toEqual(new Set(['http/1.1']))
    await expectDeltas(visitor, visit, changedBetween(0, 1))
  })

  test('loads the correct bytes after a rollback, with either build in the cache', async () => {
    const store = await temporaryFolder()
    await deploy(store, 0)
    const { url } = await serveStore(store)
    const [older, newer] = [
      await openReturningVisitor(browser, useHostName(url)),
      await openReturningVisitor(browser, useHostName(url)),
    ]
    await visitWith(older, 0)
    for (const build of [1, 2]) await deploy(store, build)
    await waitUntilCurrent(url, manifestOf(2).buildId)
    await visitWith(newer, 2)
    await rollback(await openStore(store))
    await waitUntilCurrent(url, manifestOf(1).buildId)
    await expectDeltas(older, await visitWith(older, 1), changedBetween(0, 1))
    // The older build has no delta from the newer one.
    const { files } = await visitWith(newer, 1)
    const changed = changedBetween(2, 1)
    expect(new Set(changed.map((file) => files.get(file.path)?.contentEncoding))).toEqual(new Set(['zstd']))
    await expectDigests(newer, changed)
  })

  test('does not change the responses to clients without dictionaries', async () => {
    const store = await temporaryFolder()
    for (const build of [0, 1]) await deploy(store, build)
    const [{ url }, { url: without }] = [await serveStore(store), await serveStore(store, ['--no-deltas'])]
    const current = manifestOf(1).files.map((file) => file.path)
    const marked = new Set([...dictionariesOf(manifestOf(1)).values()].map(({ file }) => file.path))
    const paths = new Set([...current, ...changedBetween(1, 0).map((file) => file.path)])
    for (const name of paths) {
      for (const codings of ['br', 'zstd, br', 'gzip, deflate, br, zstd', 'identity']) {
        const ask = async (base: URL): Promise<readonly unknown[]> => {
          const headers = { 'accept-encoding': codings }
          const answer = await sendRequest(urlOfFile(base, name), { headers })
          const { date: _, vary, 'use-as-dictionary': mark, ...others } = answer.headers
          return [{ vary, isMarked: mark !== undefined }, answer.status, others, answer.body]
        }
        const [[news, ...got], [before, ...expected]] = [await ask(url), await ask(without)]
        expect([name, codings, ...got]).toEqual([name, codings, ...expected])
        const isMarked = marked.has(name)
        expect([name, before]).toEqual([name, { vary: Object(before).vary, isMarked: false }])
        expect([name, news]).toEqual([
          name,
          { vary: isMarked ? 'Accept-Encoding, Available-Dictionary' : Object(before).vary, isMarked },
        ])
      }
    }
    expect(marked.size).toBeGreaterThan(10)
  })

  async function visitAfterLine(
    by: Browser,
    flags: readonly string[],
  ): Promise<{ visitor: ReturningVisitor; visit: Visit }> {
    const store = await temporaryFolder()
    await deploy(store, 0)
    const { url } = await serveStore(store, flags)
    const visitor = await openReturningVisitor(by, useHostName(url))
    await visitWith(visitor, 0)
    await deploy(store, 1)
    // Each connection may reach a different worker.
    for (let asked = 0; asked < 8; asked += 1) await waitUntilCurrent(url, manifestOf(1).buildId)
    return { visitor, visit: await visitWith(visitor, 1) }
  }

  /** Lists files of a build that may have a dictionary in the previous build. */
  function changedBetween(before: number, now: number): ManifestFile[] {
    const had = new Set(manifestOf(before).files.map(({ sha256 }) => sha256))
    const dictionaries = dictionariesOf(manifestOf(before))
    return [...dictionariesOf(manifestOf(now))]
      .filter(([stem, { file }]) => dictionaries.has(stem) && !had.has(file.sha256))
      .map(([, { file }]) => file)
  }
})

/** Replaces the address by the name that Chromium trusts. */
function useHostName(url: URL): URL {
  return Object.assign(new URL(url), { hostname: 'localhost' })
}

async function expectDeltas(
  visitor: ReturningVisitor,
  { files }: Visit,
  changed: readonly ManifestFile[],
  least = 4,
): Promise<void> {
  expect(changed.length).toBeGreaterThanOrEqual(least)
  for (const file of changed)
    expect([file.path, files.get(file.path)]).toEqual([
      file.path,
      expect.objectContaining({ contentEncoding: expect.stringMatching(/^dc[bz]$/) }),
    ])
  await expectDigests(visitor, changed)
}

async function expectDigests(visitor: ReturningVisitor, files: readonly ManifestFile[]): Promise<void> {
  for (const file of files)
    expect([file.path, await visitor.digestOf(file.path)]).toEqual([file.path, file.sha256])
}

interface Printed {
  readonly visit: Visit
  readonly changed: readonly ManifestFile[]
  /** The visit of a client without deltas. */
  readonly without: Visit
}

/** Prints the cost of a visit. Returns the share of brotli's bytes. */
function print(title: string, { visit, changed, without }: Printed): number {
  let [deltas, brotli] = [0, 0]
  const rows = changed.map((file) => {
    const { contentEncoding, encodedBodySize = 0 } = visit.files.get(file.path) ?? {}
    const size = file.variants.find(({ coding }) => coding === 'br')?.size ?? file.size
    deltas += encodedBodySize
    brotli += size
    return `  ${file.path}: br ${size} B, ${contentEncoding} ${encodedBodySize} B`
  })
  const share = deltas / brotli
  const sums = `br ${brotli} B, deltas ${deltas} B, ${(share * 100).toFixed(1)} %`
  const whole = `  the whole visit: ${visit.transferSize} B, without deltas ${without.transferSize} B`
  console.log([`after ${title}: ${changed.length} files, ${sums}`, ...rows, whole].join('\n'))
  return share
}
