import { beforeEach, describe, expect, test, vi } from 'vitest'
import { precompress } from '../pass/precompress.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import type * as ZstdEncoder from './zstd-encoder.ts'

const codec = vi.hoisted(() => ({ isThere: false }))

vi.mock('./zstd-encoder.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof ZstdEncoder>()),
  hasZstdEncoder: () => codec.isThere,
}))

const files = { 'index.html': '<!doctype html><title>page</title>\n'.repeat(60) }

async function pass(options: { readonly codings?: readonly ('br' | 'gzip' | 'zstd')[] } = {}): Promise<{
  readonly codings: readonly string[]
  readonly warnings: readonly string[]
}> {
  const { manifest, warnings } = await precompress(await makeFolder(files), { cache: false, ...options })
  return { codings: manifest.files.flatMap(({ variants }) => variants.map(({ coding }) => coding)), warnings }
}

describe('availableCodings', () => {
  beforeEach(() => {
    codec.isThere = false
  })

  test('leaves zstd out where nothing can encode it, and says how to have it', async () => {
    expect(await pass()).toEqual({
      codings: ['br', 'gzip'],
      warnings: [
        expect.stringMatching(/^zstd is left out: Node\.js \S+ has none, and .+ without --omit=optional$/),
      ],
    })
  })

  test('says nothing where zstd is not asked for', async () => {
    expect(await pass({ codings: ['br'] })).toEqual({ codings: ['br'], warnings: [] })
  })

  test('takes all where it is there', async () => {
    codec.isThere = true
    expect(await pass()).toEqual({ codings: ['zstd', 'br', 'gzip'], warnings: [] })
  })
})
