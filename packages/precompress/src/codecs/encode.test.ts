import { createHash } from 'node:crypto'
import { contentCodings } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encode } from './encode.ts'
import { decode } from '../../test/support/decode.ts'

const text = Buffer.from('export const greeting = "hello";\n'.repeat(200))
const codings = contentCodings.map(({ name }) => name)

describe.each(codings)('encode, %s', (coding) => {
  test('encodes bytes that an independent decoder restores', async () => {
    const words = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 400 })
    const content = fc.oneof(
      words.map((list) => Buffer.from(list.join(' '))),
      fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
      fc
        .tuple(fc.nat({ max: 255 }), fc.nat({ max: 200_000 }))
        .map(([byte, size]) => Buffer.alloc(size, byte)),
    )
    await fc.assert(
      fc.asyncProperty(content, async (bytes) => {
        expect((await decode(await encode(bytes, coding), coding)).equals(bytes)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  test.each([0, 1, 255, 256, 65_791, 65_792, 131_072, 300_000])(
    'encodes a file of %i bytes',
    async (size) => {
      const bytes = Buffer.from('abcdefghij'.repeat(Math.ceil(size / 10)).slice(0, size))
      expect((await decode(await encode(bytes, coding), coding)).equals(bytes)).toBe(true)
    },
  )

  test('returns the same bytes each time, and does not change its input', async () => {
    const before = createHash('sha256').update(text).digest('hex')
    expect(Buffer.from(await encode(text, coding)).equals(await encode(text, coding))).toBe(true)
    expect(createHash('sha256').update(text).digest('hex')).toBe(before)
  })
})

describe('encode', () => {
  test('writes no time and no operating system into the gzip header', async () => {
    const encoded = await encode(text, 'gzip')
    expect([...encoded.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
  })

  test('gives brotli the smallest window that holds the file, at most 23 bits', async () => {
    const small = await encode(text.subarray(0, 1000), 'br')
    const large = await encode(Buffer.alloc(9_000_000, text), 'br')
    expect(brotliWindow(small)).toBe(10)
    expect(brotliWindow(large)).toBe(23)
  })

  test('compresses brotli better than quality 9', async () => {
    const { brotliCompressSync, constants } = await import('node:zlib')
    const weaker = brotliCompressSync(await source(), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9 },
    })
    expect((await encode(await source(), 'br')).length).toBeLessThan(weaker.length)
  })
})

async function source(): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises')
  return await readFile(new URL(import.meta.url))
}

/** Reads the window bits from the first byte of a brotli stream (RFC 7932 §9.1). */
function brotliWindow(stream: Uint8Array): number {
  const first = stream[0] ?? 0
  if ((first & 1) === 0) return 16
  const n = (first >> 1) & 7
  if (n !== 0) return 17 + n
  const m = (first >> 4) & 7
  return m === 0 ? 17 : 8 + m
}
