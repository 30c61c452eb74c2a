import { beforeAll, describe, expect, test } from 'vitest'
import { chunkSize } from '../../src/files/stored-file.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { countFileSystemCalls } from '../support/count-file-system-calls.ts'
import type { Connection } from '../support/open-connection.ts'
import { formatRequest, type RawRequest } from '../support/raw-request.ts'
import { isNative } from '../support/tested-engine.ts'

const repetitions = 20
const script = compressibleText(300_000)

let directory: string
beforeAll(async () => {
  directory = await buildFixture({
    'index.html': compressibleText(2000, 'page'),
    'docs/index.html': 'docs',
    'app.js': script,
  })
})

/** Every kind of response, in every coding. */
const requests: readonly RawRequest[] = [
  ...['identity', 'zstd', 'br', 'gzip', '*;q=0'].map((coding) => ({
    target: '/app.js',
    fields: { 'Accept-Encoding': coding },
  })),
  { target: '/app.js', fields: { Range: 'bytes=5-70000' } },
  { target: '/app.js', fields: { Range: 'bytes=99999999-' } },
  { target: '/app.js', fields: { 'If-None-Match': '*' } },
  { target: '/app.js', fields: { 'If-Match': '"x"' } },
  { target: '/app.js', method: 'HEAD' },
  { target: '/app.js', method: 'OPTIONS' },
  { target: '/app.js', method: 'POST' },
  { target: '/users/1', fields: { Accept: 'text/html' } },
  { target: '/docs' },
  { target: '/unknown' },
  { target: '/%' },
  { target: '/../etc/passwd' },
]

async function exchange(connection: Connection, list: readonly RawRequest[]): Promise<void> {
  for (let index = 0; index < repetitions; index += 1) {
    for (const request of list) {
      connection.send(formatRequest(request))
      await connection.receive(request.method)
    }
  }
}

describe('answering', () => {
  test('makes no file-system call for any response from memory', async () => {
    const idle = await countFileSystemCalls([directory], async () => {})
    const busy = await countFileSystemCalls([directory], (connection) => exchange(connection, requests))
    expect(busy).toBe(idle)
  })

  test('makes no file-system call for HEAD, 304 and errors of streamed files', async () => {
    const streaming = [directory, '--memory-budget', '0']
    const bodiless = requests.filter(({ target, method, fields = {} }) => {
      const hasBody =
        target === '/users/1' || 'Accept-Encoding' in fields || fields['Range'] === 'bytes=5-70000'
      return !hasBody || method === 'HEAD'
    })
    const idle = await countFileSystemCalls(streaming, async () => {})
    const busy = await countFileSystemCalls(streaming, (connection) => exchange(connection, bodiless))
    expect(busy).toBe(idle)
    // A streamed body has calls, which proves that the counter works.
    const streamed = await countFileSystemCalls(streaming, (connection) =>
      exchange(connection, [{ target: '/app.js' }]),
    )
    const readsOfOne = Math.ceil(script.length / chunkSize)
    // The server checks the open file before its first byte and before its last. It opens and closes nothing.
    // The native engine has Node send the first response, and makes no calls in JavaScript for the others.
    expect(streamed).toBe(idle + (readsOfOne + 2) * (isNative ? 1 : repetitions))
  })
})
