import { readFile } from 'node:fs/promises'
import path from 'node:path'
import {
  type ContentCoding,
  contentCodings,
  type Manifest,
  type ManifestFile,
  manifestPath,
  stateDirectory,
  variantPath,
} from '@serve-dist/manifest'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { BuiltExample } from '../src/built-example.ts'
import { decodeIndependently } from '../src/decode-independently.ts'
import { readManifest } from '../src/read-manifest.ts'
import { type ReceivedResponse, sendRequest } from '../src/send-request.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'
import { urlOfFile } from '../src/url-of-file.ts'
import { walkFiles } from '../src/walk-files.ts'

const cacheControl = { immutable: 'public, max-age=31536000, immutable', revalidate: 'no-cache' }

/** The Accept-Encoding of a client, and the codings of its responses, best first. */
const clients: readonly (readonly [
  acceptEncoding: string | undefined,
  accepted: readonly ContentCoding[],
])[] = [
  ['zstd', ['zstd']],
  ['br', ['br']],
  ['gzip', ['gzip']],
  ['identity', []],
  [undefined, []],
  ['gzip, deflate, br, zstd', ['zstd', 'br', 'gzip']],
]

const examples = [...inject('examples'), inject('packedSpa')]

describe.each(examples)('serve-dist on $name', (example: BuiltExample) => {
  let manifest: Manifest
  let server: RunningCommand

  beforeAll(async () => {
    manifest = await readManifest(example.dist)
    server = await startCommand(example.command, { args: ['--port', '0'], cwd: example.project })
  })

  afterAll(async () => void (await server.stop()))

  test('its folder contains only the files and variants of the manifest, and dotfiles', async () => {
    const listed = manifest.files.flatMap(({ path: name, variants }) => [
      name,
      ...variants.map(({ coding }) => variantPath(name, coding)),
    ])
    const onDisk = await walkFiles(example.dist)
    // A file that another tool compressed is both a file and the variant of its original.
    expect(onDisk.filter((name) => !isHidden(name))).toEqual([...new Set(listed)].toSorted())
    const state = onDisk.filter((name) => name.startsWith(`${stateDirectory}/`))
    expect(state).toEqual([manifestPath, `${stateDirectory}/record.json`])
    expect(new Set(manifest.files.flatMap(({ variants }) => variants.map(({ coding }) => coding)))).toEqual(
      new Set(contentCodings.map(({ name }) => name)),
    )
  })

  test.each(clients)(
    'every file has the bytes on the disk for Accept-Encoding: %s',
    async (acceptEncoding, accepted) => {
      for (const file of manifest.files) {
        const url = urlOfFile(server.url, file.path)
        const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
        const coding = accepted.find((name) => file.variants.some((variant) => variant.coding === name))
        const bytes = await readFile(
          path.join(example.dist, coding === undefined ? file.path : variantPath(file.path, coding)),
        )

        const got = await sendRequest(url, { headers })
        const size = String(bytes.length)
        expect.soft([got.status, got.body.equals(bytes)], file.path).toEqual([200, true])
        expect.soft(got.headers, file.path).toMatchObject(fieldsOf(file, manifest))
        expect.soft(got.headers, file.path).toHaveProperty('content-length', size)
        expect.soft(got.headers['content-encoding'], file.path).toBe(coding)
        expect
          .soft(got.headers.vary, file.path)
          .toBe(file.variants.length > 0 ? 'Accept-Encoding' : undefined)
        expect.soft(got.headers['transfer-encoding'], file.path).toBeUndefined()
        expect.soft(got.headers.etag, file.path).toMatch(/^"[^"]+"$/)

        const head = await sendRequest(url, { method: 'HEAD', headers })
        expect.soft([head.status, head.body.length], file.path).toEqual([200, 0])
        expect.soft(withoutDate(head), file.path).toEqual(withoutDate(got))

        const again = await sendRequest(url, {
          headers: { ...headers, 'if-none-match': got.headers.etag ?? '' },
        })
        const { etag, vary, 'cache-control': freshness } = got.headers
        expect.soft([again.status, again.body.length], file.path).toEqual([304, 0])
        expect
          .soft(again.headers, file.path)
          .toMatchObject({ etag, 'cache-control': freshness, ...(vary === undefined ? {} : { vary }) })
        for (const name of ['content-length', 'content-type', 'content-encoding']) {
          expect.soft(again.headers, file.path).not.toHaveProperty(name)
        }
      }
    },
  )

  test('every representation of a file has its own ETag', async () => {
    for (const file of manifest.files) {
      const codings = ['identity', ...file.variants.map(({ coding }) => coding)]
      const answers = await Promise.all(
        codings.map((coding) =>
          sendRequest(urlOfFile(server.url, file.path), {
            method: 'HEAD',
            headers: { 'accept-encoding': coding },
          }),
        ),
      )
      expect.soft(new Set(answers.map(({ headers }) => headers.etag)).size, file.path).toBe(codings.length)
    }
  })

  test('variants under their own suffix, the manifest and dotfiles get 404', async () => {
    const onDisk = await walkFiles(example.dist)
    const listed = new Set(manifest.files.map((file) => file.path))
    const hidden = onDisk.filter((name) => !listed.has(name))
    expect(hidden.length).toBeGreaterThan(manifest.files.length / 2)
    for (const name of hidden) {
      const { status, headers } = await sendRequest(urlOfFile(server.url, name), {
        headers: { 'accept-encoding': 'zstd, br, gzip', 'sec-fetch-mode': 'cors' },
      })
      expect.soft([status, headers['cache-control']], name).toEqual([404, 'no-store'])
    }
  })

  test('a compressed file of the user is served without Content-Encoding', async () => {
    const own = manifest.files.filter(({ path: name }) => /\.(gz|br|zst)$/.test(name))
    expect(own.length > 0).toBe(example.name.endsWith('spa'))
    for (const file of own) {
      const { status, headers } = await sendRequest(urlOfFile(server.url, file.path), {
        headers: { 'accept-encoding': 'zstd, br, gzip' },
      })
      expect.soft([status, headers['content-encoding']], file.path).toEqual([200, undefined])
    }
  })

  test('every variant on the disk equals its original if an independent decoder decodes it', async () => {
    for (const file of manifest.files) {
      const original = await readFile(path.join(example.dist, file.path))
      for (const { coding } of file.variants) {
        const decoded = await decodeIndependently(
          path.join(example.dist, variantPath(file.path, coding)),
          coding,
        )
        expect.soft(original.equals(decoded), variantPath(file.path, coding)).toBe(true)
      }
    }
  })

  // Windows has no SIGTERM: it ends the process at once.
  test.skipIf(process.platform === 'win32')('it stops at SIGTERM with exit code 0', async () => {
    expect(await server.stop()).toMatchObject({ exitCode: 0, errors: '' })
  })
})

function isHidden(name: string): boolean {
  return name.split('/').some((segment) => segment.startsWith('.') && segment !== '.well-known')
}

function fieldsOf(file: ManifestFile, { serving = {} }: Manifest): Record<string, string> {
  // A worker script has its own policy, which may change at the next start.
  const hasPolicy = file.worker === true && serving.csp !== undefined
  return {
    'content-type': file.mediaType,
    'cache-control': cacheControl[hasPolicy ? 'revalidate' : file.cache],
    // A file that the server generates has no modification time.
    ...(file.runtime !== true && { 'last-modified': new Date(file.lastModified).toUTCString() }),
    'x-content-type-options': 'nosniff',
  }
}

function withoutDate({ headers }: ReceivedResponse): Record<string, unknown> {
  const { date: _, ...others } = headers
  return others
}
