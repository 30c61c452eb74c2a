import { loadEngine } from '@serve-dist/engine'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { arrayBuffersInUse } from '../support/array-buffers-in-use.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { serve } from '../../src/serve/serve.ts'

const size = 4_000_000

describe.skipIf(typeof loadEngine() === 'string')('a server of the native engine that is closed', () => {
  const options = { port: 0, gracePeriod: 1000, engine: 'native' } as const
  test.each([
    [
      'that has answered',
      async (directory: string) => {
        const server = await serve({ directory, ...options })
        const port = Number(new URL(server.url).port)
        expect((await rawRequest(port, { target: '/noise.bin' })).body).toHaveLength(size)
        await server.close()
      },
    ],
    [
      'that cannot listen',
      async (directory: string) => {
        const socket = join(directory, 'no-such-folder/socket')
        const failure: unknown = await serve({ directory, ...options, socket }).catch(
          (error: unknown) => error,
        )
        expect(String(failure)).toContain('no-such-folder')
      },
    ],
  ])('frees its memory: one %s', async (_what, use) => {
    const directory = await buildFixture({ 'index.html': 'page', 'noise.bin': randomBytes(size) })
    await use(directory)
    const before = await arrayBuffersInUse()
    for (let round = 0; round < 6; round += 1) await use(directory)
    await expect.poll(arrayBuffersInUse).toBeLessThan(before + 2 * size)
  })
})
