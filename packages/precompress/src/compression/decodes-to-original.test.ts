import { deflateRawSync, brotliCompressSync, constants, crc32, gzipSync } from 'node:zlib'
import { compress as zstdCompress } from '@mongodb-js/zstd'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../test/support/make-folder.ts'
import { describeFile } from '../folder/describe-file.ts'
import { decodesToOriginal } from './decodes-to-original.ts'

const script = Buffer.from('export const answer = () => "forty-two";\n'.repeat(100))
const half = script.length / 2
const halves = [script.subarray(0, half), script.subarray(half)]
const other = Buffer.concat([script, Buffer.from('//')])
const gzip = gzipSync(script)
const brotli = brotliCompressSync(script)
const zstd = await zstdCompress(script, 3)
/** A frame that decoders skip (RFC 8878 §3.1.2). */
const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])

const extensions = { gzip: 'gz', br: 'br', zstd: 'zst' } as const
type Coding = keyof typeof extensions

async function isTaken(coding: Coding, variant: Uint8Array, original: Uint8Array = script): Promise<boolean> {
  const path = `a.js.${extensions[coding]}`
  const folder = await makeFolder({ 'a.js': original, [path]: variant })
  const [file, of] = [await describeFile(folder, path), await describeFile(folder, 'a.js')]
  return await decodesToOriginal(folder, { file, original: of, coding })
}

/** Returns the same deflated bytes with another header (RFC 1952 §2.3). */
function withHeader(flags: number, ...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat([
    gzip.subarray(0, 3),
    Buffer.from([flags]),
    gzip.subarray(4, 10),
    ...fields,
    gzip.subarray(10),
  ])
}

function withByte(bytes: Buffer, position: number, change: number): Buffer {
  const changed = Buffer.from(bytes)
  const index = position < 0 ? bytes.length + position : position
  changed.writeUInt8(changed.readUInt8(index) ^ change, index)
  return changed
}

/** Adds a dictionary id to the header of a frame (RFC 8878 §3.1.1.1.3). */
function withDictionary(frame: Buffer): Buffer {
  const hasWindow = (frame.readUInt8(4) & 0x20) === 0
  const place = hasWindow ? 6 : 5
  return Buffer.concat([withByte(frame, 4, 1).subarray(0, place), Buffer.from([7]), frame.subarray(place)])
}

/** Appends the digest of the content, as the command `zstd` does (RFC 8878 §3.1.1). */
function withDigest(frame: Buffer, digest: number): Buffer {
  const end = Buffer.alloc(4)
  end.writeUInt32LE(digest)
  return Buffer.concat([withByte(frame, 4, 4), end])
}

describe('decodesToOriginal for a sibling that every browser decodes to its original', () => {
  test.each<readonly [string, Coding, Buffer]>([
    ['gzip', 'gzip', gzip],
    ['with a name, as written by the command gzip', 'gzip', withHeader(8, Buffer.from('a.js\0'))],
    [
      'with extra bytes, a name and a comment',
      'gzip',
      withHeader(0x1d, Buffer.from([2, 0, 65, 66]), Buffer.from('a\0'), Buffer.from('b\0')),
    ],
    ['brotli', 'br', brotli],
    ['zstd', 'zstd', zstd],
  ])('accepts the sibling: %s', async (_what, coding, variant) => {
    expect(await isTaken(coding, variant)).toBe(true)
  })

  test.each(Object.keys(extensions).filter((name): name is Coding => name in extensions))(
    'accepts the sibling in many pieces: %s',
    async (coding) => {
      const noise = Buffer.alloc(400_000)
      for (let index = 0; index < noise.length; index += 4)
        noise.writeUInt32LE(Math.imul(index, 2_654_435_761) >>> 0, index)
      const encode = {
        gzip: gzipSync,
        br: brotliCompressSync,
        zstd: async () => await zstdCompress(noise, 1),
      }
      const variant = await encode[coding](noise)
      expect(await isTaken(coding, variant, noise)).toBe(true)
      expect(await isTaken(coding, Buffer.concat([variant, Buffer.from('x')]), noise)).toBe(false)
    },
  )
})

describe('decodesToOriginal for a sibling that a browser rejects or decodes differently', () => {
  test.each<readonly [string, Buffer]>([
    ['of another original', gzipSync(other)],
    ['that is truncated', gzip.subarray(0, -1)],
    ['with an extra byte', Buffer.concat([gzip, Buffer.from('x')])],
    ['with extra zeros', Buffer.concat([gzip, Buffer.alloc(512)])],
    ['of two members: Chromium decodes only the first', Buffer.concat(halves.map((part) => gzipSync(part)))],
    ['after an empty member', Buffer.concat([gzipSync(''), gzip])],
    ['before an empty member', Buffer.concat([gzip, gzipSync('')])],
    ['with a wrong CRC', withByte(gzip, -8, 1)],
    ['with a wrong length', withByte(gzip, -4, 1)],
    ['with a reserved flag', withByte(gzip, 3, 0x20)],
    ['with a name that does not end', withHeader(8, Buffer.alloc(2000, 65))],
    ['that is empty', Buffer.alloc(0)],
  ])('rejects gzip %s', async (_what, variant) => {
    expect(await isTaken('gzip', variant)).toBe(false)
  })

  test.each<readonly [string, Buffer]>([
    ['of another original', brotliCompressSync(other)],
    ['that is truncated', brotli.subarray(0, -1)],
    ['with an extra byte', Buffer.concat([brotli, Buffer.from('x')])],
    ['of two streams', Buffer.concat(halves.map((part) => brotliCompressSync(part)))],
    [
      'with a large window, which browsers reject',
      brotliCompressSync(script, {
        params: { [constants.BROTLI_PARAM_LARGE_WINDOW]: 1, [constants.BROTLI_PARAM_LGWIN]: 28 },
      }),
    ],
    ['that is empty', Buffer.alloc(0)],
  ])('rejects brotli %s', async (_what, variant) => {
    expect(await isTaken('br', variant)).toBe(false)
  })

  test.each<readonly [string, () => Promise<Buffer> | Buffer]>([
    ['of another original', async () => await zstdCompress(other, 3)],
    ['that is truncated', () => zstd.subarray(0, -1)],
    ['with an extra byte', () => Buffer.concat([zstd, Buffer.from('x')])],
    [
      'of two frames',
      async () => Buffer.concat(await Promise.all(halves.map((part) => zstdCompress(part, 3)))),
    ],
    ['after an empty frame', async () => Buffer.concat([await zstdCompress(Buffer.alloc(0), 3), zstd])],
    ['after a skippable frame', () => Buffer.concat([skippable, zstd])],
    ['before a skippable frame', () => Buffer.concat([zstd, skippable])],
    ['with a wrong digest', () => withDigest(zstd, 1)],
    ['that needs a dictionary', () => withDictionary(zstd)],
    ['that is empty', () => Buffer.alloc(0)],
  ])('rejects zstd %s', async (_what, make) => {
    expect(await isTaken('zstd', await make())).toBe(false)
  })
})

/** Returns a block of one byte, repeated 128 Ki times (RFC 8878 §3.1.1.2). */
function repeatedBlock(isLast: 0 | 1): Buffer {
  return Buffer.from([2 | isLast, 0, 0x10, 65])
}

describe('decodesToOriginal for a sibling that decodes to ten gigabytes or more', () => {
  /** Longer than the bomb, so that its length alone does not reject it. */
  const original = Buffer.alloc(11_000_000, 'original')

  test('stops when the content is longer than the original, in gzip', { timeout: 10_000 }, async () => {
    const piece = deflateRawSync(Buffer.alloc(64_000_000), { finishFlush: constants.Z_SYNC_FLUSH })
    const bomb = Buffer.concat([gzip.subarray(0, 10), ...Array.from({ length: 160 }, () => piece)])
    expect(bomb.length).toBeLessThan(original.length)
    expect(await isTaken('gzip', bomb, original)).toBe(false)
  })

  // A machine that decoded all of it in 60 seconds would decode five gigabytes a second.
  test('stops when the content is longer than the original, in zstd', { timeout: 60_000 }, async () => {
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3])
    const bomb = Buffer.concat([header, Buffer.alloc(4 * 2_400_000, repeatedBlock(0)), repeatedBlock(1)])
    expect(bomb.length).toBeLessThan(original.length)
    expect(await isTaken('zstd', bomb, original)).toBe(false)
    // A short frame of this kind decodes.
    const short = Buffer.concat([header, repeatedBlock(1)])
    expect(await isTaken('zstd', short, Buffer.alloc(131_072, 65))).toBe(true)
  })

  test('does not read a sibling that is longer than its original in any coding', async () => {
    const empty = Buffer.from([0, 0, 0, 255, 255])
    const padded = Buffer.concat([
      gzip.subarray(0, 10),
      ...Array.from({ length: 2000 }, () => empty),
      gzip.subarray(10),
    ])
    expect(crc32(script)).toBe(gzip.readUInt32LE(gzip.length - 8))
    expect(await isTaken('gzip', padded)).toBe(false)
  })
})
