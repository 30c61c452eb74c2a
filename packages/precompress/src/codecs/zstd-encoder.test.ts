import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decode } from '../../test/support/decode.ts'
import { makeFolder } from '../../test/support/make-folder.ts'
import {
  availableCodings,
  encodeInWasm,
  encodeNatively,
  isWasm,
  wasmCodec,
  zstdCodec,
} from './zstd-encoder.ts'

const eightMebibytes = 8 * 1024 * 1024
const sample = Buffer.concat(
  [
    '../compression/precompress.ts',
    '../compression/precompress.test.ts',
    '../folder/list-files.ts',
    '../compression/compress-files.ts',
  ].map((name) => readFileSync(new URL(name, import.meta.url))),
)
const encoders = {
  'node:zlib': { encode: encodeNatively, isThere: !isWasm },
  '@hpcc-js/wasm-zstd': { encode: encodeInWasm, isThere: true },
}

/** Returns text of seven letters without repetition in the first 100,000 bytes. */
function longText(size: number): Buffer {
  let seed = 1
  const bytes = Buffer.alloc(Math.min(size, 100_000))
  for (let index = 0; index < bytes.length; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    bytes[index] = 97 + ((seed >>> 16) % 7)
  }
  return Buffer.alloc(size, bytes)
}

describe.each(Object.entries(encoders))('the zstd encoder of %s', (_name, { encode, isThere }) => {
  test.runIf(isThere).each([
    [100, 100],
    [5_000, 5_000],
    [65_792, 65_792],
    [300_000, 300_000],
    [9_500_000, eightMebibytes],
  ])('encodes %i bytes with a window of %i', { timeout: 60_000 }, async (size, window) => {
    const bytes = longText(size)
    const frame = await encode(bytes)
    expect(windowOf(frame)).toBe(window)
    expect((await decode(frame, 'zstd')).equals(bytes)).toBe(true)
  })
})

test.skipIf(isWasm)('the encoder of node:zlib compresses better than level 9', async () => {
  const weaker = zlib.zstdCompressSync(sample, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 9 } })
  expect((await encodeNatively(sample)).length).toBeLessThan(weaker.length)
})

describe('encodeInWasm', () => {
  test('compresses better than level 9 of its package', async () => {
    const { Zstd } = await import('@hpcc-js/wasm-zstd')
    const weaker = (await Zstd.load()).compress(sample, 9)
    expect((await encodeInWasm(sample)).length).toBeLessThan(weaker.length)
  })

  test.each([
    ['large', 3_000_000],
    ['huge', 9_000_000],
  ])('encodes again after a %s file, whose memory it released', async (_what, length) => {
    const large = longText(length)
    const frames = [await encodeInWasm(sample), await encodeInWasm(large), await encodeInWasm(sample)]
    expect(frames[2]).toEqual(frames[0])
    expect((await decode(frames[1] ?? sample, 'zstd')).equals(large)).toBe(true)
  })
})

describe('availableCodings', () => {
  test('leaves zstd out if no encoder is available, and names the fix', () => {
    const warnings: string[] = []
    const codings = availableCodings(['zstd', 'br', 'gzip'], (message) => warnings.push(message), false)
    expect(codings).toEqual(['br', 'gzip'])
    expect(warnings).toEqual([
      expect.stringMatching(
        /^cannot encode zstd: Node\.js \S+ does not support it.+ without --omit=optional\.$/,
      ),
    ])
  })

  test.each([
    ['if zstd is not requested', ['br'], false],
    ['if zstd is available', ['zstd', 'br', 'gzip'], undefined],
  ] as const)('returns all codings without a warning %s', (_where, codings, hasZstd) => {
    const warnings: string[] = []
    expect(availableCodings(codings, (message) => warnings.push(message), hasZstd)).toEqual(codings)
    expect(warnings).toEqual([])
  })
})

describe('zstdCodec', () => {
  test('contains the version of the encoder', async () => {
    const manifest = new URL('../../node_modules/@hpcc-js/wasm-zstd/package.json', import.meta.url)
    const [, version = ''] = /"version": "(.+?)"/.exec(readFileSync(manifest, 'utf8')) ?? []
    expect(zstdCodec).toBe(`zstd/${process.versions['zstd'] ?? `wasm-${version}`}`)
  })
})

describe('wasmCodec', () => {
  test('contains the version of the package that a module belongs to', async () => {
    const folder = await makeFolder({ 'package.json': '{ "version": "9.8.7" }', 'dist/index.js': '' })
    expect(wasmCodec(pathToFileURL(join(folder, 'dist/index.js')).href)).toBe('zstd/wasm-9.8.7')
  })

  test('is unique if the version is unknown', async () => {
    const folder = await makeFolder({ 'package.json': '{}', 'dist/index.js': '' })
    const module = pathToFileURL(join(folder, 'dist/index.js')).href
    expect(wasmCodec(module)).not.toBe(wasmCodec(module))
  })
})

/** Returns the window that a decoder of the frame needs (RFC 8878 §3.1.1.1.2, §3.1.1.1.4). */
function windowOf(frame: Uint8Array): number {
  const view = Buffer.from(frame)
  const descriptor = view.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  if (!isSingleSegment) {
    const window = view.readUInt8(5)
    const base = 2 ** (10 + (window >> 3))
    return base + (base / 8) * (window & 7)
  }
  switch (descriptor >> 6) {
    case 0:
      return view.readUInt8(5)
    case 1:
      return view.readUInt16LE(5) + 256
    case 2:
      return view.readUInt32LE(5)
    default:
      return Number(view.readBigUInt64LE(5))
  }
}
