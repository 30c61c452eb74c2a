import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { blackBoxRows, type BlackBoxRow } from './black-box-rows.ts'
import { buildFixture, type FixtureFiles } from './build-fixture.ts'
import { compressibleText } from './compressible-text.ts'
import { type RawRequest, rawRequest } from './raw-request.ts'
import type { RawResponse } from './parse-response.ts'

/** A host under test, and its deviations. */
export interface BlackBoxHost {
  readonly name: string
  /**
   * Whether the host answers everything, or passes unknown requests on to a handler with status {@link
   * passedOn}.
   */
  readonly role: 'standalone' | 'middleware'
  /** Fields in lower case that the host adds to every response. */
  readonly additionalFields?: readonly string[]
  /** Names of rows that the host answers before serve-dist is called. */
  readonly ownAnswers?: readonly string[]
  /** Whether the host sends streams in chunks and drops their length. */
  readonly isChunking?: boolean
  /** Whether the host omits Date for HEAD. */
  readonly isTimelessOnHead?: boolean
  start(site: BlackBoxSite): Promise<number>
  /** Sends a request. The default is HTTP/1.1 over TCP. */
  readonly ask?: (port: number, request: RawRequest) => Promise<RawResponse>
  /**
   * Returns the number of requests that have reached JavaScript. Responses of the native engine do not count.
   */
  readonly countHandled?: () => number
}

export interface BlackBoxSite {
  readonly directory: string
  /** Bytes of bodies to keep in memory. 0 streams everything. */
  readonly memoryBudget: number
}

/** The status of the handler after a middleware. Its body is the method and the target. */
export const passedOn = 299

/** Files of every kind that the rows request. */
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

/** Runs the rows of docs/http.md that every host must answer in the same way, from memory and streamed. */
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
      // The engine has learned the fields of the first response.
      const handled = host.countHandled()
      expect(observe(await ask(port, row.request), expected)).toEqual(expected)
      expect(host.countHandled()).toBe(handled)
    })

    test('HEAD has the same fields as GET', async () => {
      for (const { what, request, isPassedOn } of rows) {
        if (request.method !== undefined || isPassedOn === true || 'Range' in (request.fields ?? {})) continue
        const get = await ask(port, request)
        const head = await ask(port, { ...request, method: 'HEAD' })
        expect([what, head.status, fieldsOf(head, host)]).toEqual([what, get.status, fieldsOf(get, host)])
      }
    })
  })
}

/** Tells whether the native engine answers without Node, as docs/engine.md describes. */
function isForEngine({ request, answer, isPassedOn = false }: BlackBoxRow): boolean {
  // The engine relays requests with empty values.
  const isPlain = Object.entries(request.fields ?? {}).every(
    ([name, value]) => name === 'Accept-Encoding' && value !== '',
  )
  return isPlain && !isPassedOn && answer.status === 200 && answer.file !== 'empty.txt'
}

/** Returns the fields that serve-dist decides: not the time, the framing or the connection. */
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

/** The checked parts of a response. `undefined` parts are not checked. */
interface Expectation {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly hasDate: boolean | undefined
  readonly contentLength: string | undefined
  /** In Latin-1. */
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

async function bytesOf({ answer }: BlackBoxRow, directory: string): Promise<Buffer> {
  const bytes = await readFile(join(directory, answer.file ?? ''))
  return bytes.subarray(...(answer.slice ?? []))
}
