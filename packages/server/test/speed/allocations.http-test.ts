import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { startServer } from '../support/start-server.ts'

const program = fileURLToPath(new URL('../support/sample-allocations.mjs', import.meta.url))
const directory = await buildFixture({ 'index.html': 'page', 'app.js': compressibleText(60_000, 'app') })

const browserFields = {
  Accept: '*/*',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9',
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  'Sec-Fetch-Mode': 'cors',
}

/** Bytes per request, by function. */
async function sampleAllocations(fields: Record<string, string>): Promise<Record<string, number>> {
  const request = formatRequest({ target: '/app.js', fields })
  // Where V8 inlines Node's functions into ours, the sampler takes what they allocate for ours.
  const flags = ['--no-turbo-inlining', '--no-maglev']
  const args = [...flags, program, directory, request, '20000']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const allocated: Record<string, number> = JSON.parse(stdout)
  return allocated
}

/** The functions of ours that allocate; the smallest object is 16 bytes, and the sampler may meet a rare one. */
function ofOurs({ others: _others, ...ours }: Record<string, number>): string[] {
  return Object.keys(ours).filter((name) => (ours[name] ?? 0) > 4)
}

describe('serve', () => {
  test('allocates nothing of its own for a body from memory', async () => {
    const allocated = await sampleAllocations(browserFields)
    // Node's own, for the request, the answer and the socket: the sampler does see what is there.
    expect(allocated['others']).toBeGreaterThan(1000)
    expect(ofOurs(allocated)).toEqual([])
  }, 60_000)

  test('allocates nothing of its own for a 304', async () => {
    const { port } = await startServer(directory)
    const { field } = await rawRequest(port, { target: '/app.js', fields: browserFields })
    const condition = { 'If-None-Match': field('ETag') ?? '' }
    const allocated = await sampleAllocations({ ...browserFields, ...condition })
    expect(allocated['others']).toBeGreaterThan(1000)
    expect(ofOurs(allocated)).toEqual([])
  }, 60_000)
})
