import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { blackBoxRows, type BlackBoxRow } from './black-box-rows.ts'
import { buildFixture, type FixtureFiles } from './build-fixture.ts'
import { compressibleText } from './compressible-text.ts'
import { type RawRequest, rawRequest } from './raw-request.ts'
import type { RawResponse } from './parse-response.ts'

/** How a host answers the rows. */
export interface BlackBoxHost {
  /** Its name, as the tests' titles have it. */
  readonly name: string
  /** Whether the host answers everything itself, or passes on what is not ours to {@link passedOn}. */
  readonly role: 'standalone' | 'middleware'
  /** Fields that the host adds by itself to every answer, in lower case. */
  readonly additionalFields?: readonly string[]
  /** Rows that the host answers by itself before it asks anybody. */
  readonly ownAnswers?: readonly string[]
  /** Whether the host cuts streams into chunks, and drops the length that it was given. */
  readonly isChunking?: boolean
  /** Whether the host forgets the Date of a HEAD. */
  readonly isTimelessOnHead?: boolean
  /** Serves a folder on a free port until the test file is done. */
  start(site: BlackBoxSite): Promise<number>
  /** How a request is sent to it; over plain TCP by HTTP/1.1 where nothing is said. */
  readonly ask?: (port: number, request: RawRequest) => Promise<RawResponse>
  /** How many requests have come to JavaScript so far: where the native engine answers by itself, none does. */
  readonly countHandled?: () => number
}

/** What is to be served. */
export interface BlackBoxSite {
  readonly directory: string
  /** Bytes of bodies held in memory: 0 streams everything. */
  readonly memoryBudget: number
}

/** The status by which what stands behind a middleware is known; its body is the method and the target. */
export const passedOn = 299

/** Files of every kind that the rows ask for. */
export const blackBoxFiles: FixtureFiles = {
  'index.html': compressibleText(2000, 'page'),
  'about.html': 'about',
  'docs/index.html': 'docs',
  'assets/app-1a2b3c.js': compressibleText(300_000),
  'with space+plus.txt': 'space',
  'caf\u00e9.txt': 'coffee',
  'small.txt': compressibleText(200, 'small'),
  'pixels.png': 'pixels',
  'empty.txt': '',
}

/** Runs the rows of docs/http.md that every host has to answer alike, bodies in memory and streamed. */
export function describeBlackBox(host: BlackBoxHost): void {
  const ask = host.ask ?? rawRequest
  const rows = blackBoxRows.filter(({ what }) => host.ownAnswers?.includes(what) !== true)

  describe.each([
    ['in memory', 64 * 1024 * 1024],
    ['streamed', 0],
  ])(`${host.name}, bodies %s`, (_bodies, memoryBudget) => {
    let directory: string
    let port: number
    beforeAll(async () => {
      directory = await buildFixture(blackBoxFiles, {
        appType: 'spa',
        assetsDirectory: 'assets',
        isHashed: (path) => path.includes('-1a2b3c'),
      })
      port = await host.start({ directory, memoryBudget })
    }, 60_000)

    test.each(rows.map((row) => [row.what, row] as const))('%s', async (_what, row) => {
      const response = await ask(port, row.request)
      const isChunked = host.isChunking === true && memoryBudget === 0 && row.request.method !== 'HEAD'
      const answer = await expectationOf(row, host, directory)
      const expected = isChunked ? { ...answer, contentLength: undefined } : answer
      expect(observe(response, expected)).toEqual(expected)
      if (host.countHandled === undefined || memoryBudget === 0 || !isForEngine(row)) return
      // It has learned the fields of the first one.
      const handled = host.countHandled()
      expect(observe(await ask(port, row.request), expected)).toEqual(expected)
      expect(host.countHandled()).toBe(handled)
    })

    test('HEAD has the very fields of GET', async () => {
      for (const { what, request, isPassedOn } of rows) {
        if (request.method !== undefined || isPassedOn === true || 'Range' in (request.fields ?? {})) continue
        const get = await ask(port, request)
        const head = await ask(port, { ...request, method: 'HEAD' })
        expect([what, head.status, fieldsOf(head, host)]).toEqual([what, get.status, fieldsOf(get, host)])
      }
    })
  })
}

/** Whether the native engine answers it by itself, as docs/engine.md says. */
function isForEngine({ request, answer, isPassedOn = false }: BlackBoxRow): boolean {
  // It learns no empty value.
  const isPlain = Object.entries(request.fields ?? {}).every(
    ([name, value]) => name === 'Accept-Encoding' && value !== '',
  )
  return isPlain && !isPassedOn && answer.status === 200 && answer.file !== 'empty.txt'
}

/** The fields that are ours to decide: not the time, nor how the host frames and how long it listens. */
function fieldsOf(
  response: RawResponse,
  { additionalFields = [], isChunking = false }: BlackBoxHost,
): readonly (readonly [string, string])[] {
  const framing = isChunking ? ['content-length', 'transfer-encoding'] : []
  const left = new Set(['date', 'connection', 'keep-alive', ...framing, ...additionalFields])
  return response.fields
    .map(([field, value]) => [field.toLowerCase(), value] as const)
    .filter(([field]) => !left.has(field))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** What is looked at of a response; what is `undefined` is not. */
interface Expectation {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly hasDate: boolean | undefined
  readonly contentLength: string | undefined
  /** As Latin-1. */
  readonly body: string | undefined
}

async function expectationOf(row: BlackBoxRow, host: BlackBoxHost, directory: string): Promise<Expectation> {
  const { method = 'GET', target = '/' } = row.request
  const isHead = method === 'HEAD'
  const hasDate = isHead && host.isTimelessOnHead === true ? undefined : true
  if (host.role === 'middleware' && row.isPassedOn === true) {
    const body = isHead ? '' : `${method} ${target}`
    return { status: passedOn, fields: {}, hasDate, contentLength: undefined, body }
  }
  const { status, file, fields = {}, body } = row.answer
  const bytes = file === undefined ? undefined : await bytesOf(row, directory)
  return {
    status,
    fields: Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, matcherOf(value)])),
    hasDate,
    contentLength: bytes && String(bytes.length),
    body: isHead ? '' : (bytes?.toString('latin1') ?? body),
  }
}

function matcherOf(value: string | RegExp | undefined): unknown {
  return value instanceof RegExp ? expect.stringMatching(value) : value
}

function observe(response: RawResponse, expected: Expectation): Expectation {
  return {
    status: response.status,
    fields: Object.fromEntries(Object.keys(expected.fields).map((field) => [field, response.field(field)])),
    hasDate: expected.hasDate && /^\w{3}, .+ GMT$/.test(response.field('Date') ?? ''),
    contentLength: expected.contentLength && response.field('Content-Length'),
    body: expected.body === undefined ? undefined : response.body.toString('latin1'),
  }
}

/** The bytes of the build that a row asks for. */
async function bytesOf({ answer }: BlackBoxRow, directory: string): Promise<Buffer> {
  const bytes = await readFile(join(directory, answer.file ?? ''))
  return bytes.subarray(...(answer.slice ?? []))
}
