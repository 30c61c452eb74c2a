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

/** Returns bytes per request, by function. */
async function sampleAllocations(fields: Record<string, string>): Promise<Record<string, number>> {
  const request = formatRequest({ target: '/app.js', fields })
  // If V8 inlines Node's functions into the server's, the sampler attributes their allocations to the server.
  const flags = ['--no-turbo-inlining', '--no-maglev']
  const args = [...flags, program, directory, request, '20000']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const allocated: Record<string, number> = JSON.parse(stdout)
  return allocated
}

/**
 * Returns the server's functions that allocate. The smallest object has 16 bytes, and the sampler may hit a
 * rare one.
 */
function ownAllocations({ others: _others, ...ours }: Record<string, number>): string[] {
  return Object.keys(ours).filter((name) => (ours[name] ?? 0) > 4)
}

describe('serve', () => {
  test("allocates nothing in the server's code for a body from memory", async () => {
    const allocated = await sampleAllocations(browserFields)
    // Node allocates the request, the response and the socket. This proves that the sampler works.
    expect(allocated['others']).toBeGreaterThan(1000)
    expect(ownAllocations(allocated)).toEqual([])
  }, 60_000)

  test("allocates nothing in the server's code for a 304", async () => {
    const { port } = await startServer(directory)
    const { field } = await rawRequest(port, { target: '/app.js', fields: browserFields })
    const condition = { 'If-None-Match': field('ETag') ?? '' }
    const allocated = await sampleAllocations({ ...browserFields, ...condition })
    expect(allocated['others']).toBeGreaterThan(1000)
    expect(ownAllocations(allocated)).toEqual([])
  }, 60_000)
})
