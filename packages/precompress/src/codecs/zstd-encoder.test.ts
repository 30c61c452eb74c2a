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
    '../pass/precompress.ts',
    '../pass/precompress.test.ts',
    '../folder/list-files.ts',
    '../pass/compress-files.ts',
  ].map((name) => readFileSync(new URL(name, import.meta.url))),
)
const encoders = {
  'node:zlib': { encode: encodeNatively, isThere: !isWasm },
  '@hpcc-js/wasm-zstd': { encode: encodeInWasm, isThere: true },
}

/** Text of seven letters in which nothing repeats for the first 100,000 bytes. */
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
  ])('makes of %i bytes a frame with a window of %i', { timeout: 60_000 }, async (size, window) => {
    const bytes = longText(size)
    const frame = await encode(bytes)
    expect(windowOf(frame)).toBe(window)
    expect((await decode(frame, 'zstd')).equals(bytes)).toBe(true)
  })
})

test.skipIf(isWasm)('the encoder of node:zlib beats its own level 9', async () => {
  const weaker = zlib.zstdCompressSync(sample, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 9 } })
  expect((await encodeNatively(sample)).length).toBeLessThan(weaker.length)
})

describe('encodeInWasm', () => {
  test('beats level 9 of its package', async () => {
    const { Zstd } = await import('@hpcc-js/wasm-zstd')
    const weaker = (await Zstd.load()).compress(sample, 9)
    expect((await encodeInWasm(sample)).length).toBeLessThan(weaker.length)
  })

  test.each([
    ['large', 3_000_000],
    ['huge', 9_000_000],
  ])('encodes again after a %s file, for which it gave its memory back', async (_what, length) => {
    const large = longText(length)
    const frames = [await encodeInWasm(sample), await encodeInWasm(large), await encodeInWasm(sample)]
    expect(frames[2]).toEqual(frames[0])
    expect((await decode(frames[1] ?? sample, 'zstd')).equals(large)).toBe(true)
  })
})

describe('availableCodings', () => {
  test('leaves zstd out where nothing can encode it, and says how to have it', () => {
    const warnings: string[] = []
    const codings = availableCodings(['zstd', 'br', 'gzip'], (message) => warnings.push(message), false)
    expect(codings).toEqual(['br', 'gzip'])
    expect(warnings).toEqual([
      expect.stringMatching(/^zstd is left out: Node\.js \S+ has none, and .+ without --omit=optional$/),
    ])
  })

  test.each([
    ['where zstd is not asked for', ['br'], false],
    ['where it is there', ['zstd', 'br', 'gzip'], undefined],
  ] as const)('takes all %s, and says nothing', (_where, codings, hasZstd) => {
    const warnings: string[] = []
    expect(availableCodings(codings, (message) => warnings.push(message), hasZstd)).toEqual(codings)
    expect(warnings).toEqual([])
  })
})

describe('zstdCodec', () => {
  test('names the version that encodes', async () => {
    const manifest = new URL('../../node_modules/@hpcc-js/wasm-zstd/package.json', import.meta.url)
    const [, version = ''] = /"version": "(.+?)"/.exec(readFileSync(manifest, 'utf8')) ?? []
    expect(zstdCodec).toBe(`zstd/${process.versions['zstd'] ?? `wasm-${version}`}`)
  })
})

describe('wasmCodec', () => {
  test('names the version of the package that a module belongs to', async () => {
    const folder = await makeFolder({ 'package.json': '{ "version": "9.8.7" }', 'dist/index.js': '' })
    expect(wasmCodec(pathToFileURL(join(folder, 'dist/index.js')).href)).toBe('zstd/wasm-9.8.7')
  })

  test('never names the same where the version is not told', async () => {
    const folder = await makeFolder({ 'package.json': '{}', 'dist/index.js': '' })
    const module = pathToFileURL(join(folder, 'dist/index.js')).href
    expect(wasmCodec(module)).not.toBe(wasmCodec(module))
  })
})

/** The window that a decoder of the frame needs (RFC 8878 §3.1.1.1.2, §3.1.1.1.4). */
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
