import type { Manifest } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareBuilds, type FileState } from './compare-builds.ts'
import { fileKinds, sizeColumns } from '../builds/sizes.ts'
import { defaultNoise, type Verdict } from './size-change.ts'
import { type FileSketch, makeManifest } from '../../test/support/make-manifest.ts'

const before = makeManifest([
  { path: 'assets/index-AAAA1111.js', size: 1000, variants: { br: 400, gzip: 500, zstd: 450 } },
  { path: 'assets/vendor-AAAA2222.js', size: 100_000, variants: { br: 40_000 } },
  { path: 'assets/index-AAAA3333.css', size: 300 },
  { path: 'index.html', size: 200 },
  { path: 'old.txt', size: 10 },
])
const after = makeManifest([
  { path: 'assets/index-BBBB1111.js', size: 1100, variants: { br: 380, gzip: 500, zstd: 450 } },
  { path: 'assets/vendor-BBBB2222.js', size: 100_010, variants: { br: 40_005 } },
  { path: 'assets/index-AAAA3333.css', size: 300 },
  { path: 'index.html', size: 200, content: 'other bytes of the same length' },
  { path: 'new.txt', size: 20 },
])

function verdictOf(from: number, to: number): Verdict {
  const builds = [from, to].map((size) => makeManifest([{ path: 'a.js', size }]))
  const [one = before, other = before] = builds
  return compareBuilds(one, other).totals.total.identity.verdict
}

function stateOfVendor(percent: number, bytes: number): FileState | undefined {
  const { files } = compareBuilds(before, after, { noise: { percent, bytes } })
  return files.find(({ name }) => name === 'assets/vendor-HASH.js')?.state
}

function importer(br: number, size = 900): Manifest {
  return makeManifest([{ path: 'assets/a.js', size, content: String(br), variants: { br } }])
}

function stateOf(from: Manifest, to: Manifest, noise = defaultNoise): FileState | undefined {
  return compareBuilds(from, to, { noise }).files[0]?.state
}

function sumOfBytes(changes: readonly { readonly bytes: number }[]): number {
  return changes.reduce((sum, { bytes }) => sum + bytes, 0)
}

describe('compareBuilds', () => {
  test('sets the state of every file', () => {
    const states = compareBuilds(before, after).files.map(({ name, state }) => `${name} ${state}`)
    expect(states).toEqual([
      'assets/index-AAAA3333.css same',
      'assets/index-HASH.js changed',
      'assets/vendor-HASH.js noise',
      'index.html noise',
      'new.txt new',
      'old.txt removed',
    ])
  })

  test('compares each coding separately, in bytes and percent', () => {
    const index = compareBuilds(before, after).files.find(({ name }) => name === 'assets/index-HASH.js')
    expect(index?.sizes).toMatchObject({
      identity: { before: 1000, after: 1100, bytes: 100, percent: 10, verdict: 'larger' },
      br: { before: 400, after: 380, bytes: -20, percent: -5, verdict: 'smaller' },
      zstd: { bytes: 0, percent: 0, verdict: 'same' },
      sent: { before: 450, after: 450, verdict: 'same' },
    })
  })

  test('has no percentage for new files, and never treats them as noise', () => {
    const { files } = compareBuilds(before, after)
    const change = (name: string) => files.find((file) => file.name === name)?.sizes.identity
    expect(change('new.txt')).toEqual({
      before: 0,
      after: 20,
      bytes: 20,
      percent: undefined,
      verdict: 'larger',
    })
    expect(change('old.txt')).toMatchObject({ after: 0, percent: -100, verdict: 'smaller' })
  })

  test('treats a change as noise only if it is small in bytes and in percent', () => {
    expect(verdictOf(100_000, 100_063)).toBe('noise')
    expect(verdictOf(100_000, 100_064)).toBe('larger')
    expect(verdictOf(63_000, 62_938)).toBe('noise')
    expect(verdictOf(62_000, 61_938)).toBe('smaller')
    expect(verdictOf(100, 101)).toBe('larger')
  })

  test('treats the effect of a new hash in an import on a small chunk as noise', () => {
    expect(stateOf(importer(400), importer(403))).toBe('noise')
    expect(compareBuilds(importer(400), importer(403)).totals.js.sent.verdict).toBe('noise')
    expect(stateOf(importer(400), importer(464))).toBe('changed')
    expect(stateOf(importer(400), importer(403, 901))).toBe('changed')
    expect(stateOf(importer(400), importer(403), { percent: 0, bytes: 64 })).toBe('changed')
  })

  test('accepts other limits, and 0', () => {
    expect(stateOfVendor(0, 0)).toBe('changed')
    expect(stateOfVendor(5, 64)).toBe('noise')
  })

  test('sums each kind', () => {
    const { totals } = compareBuilds(before, after)
    expect(totals.js.identity).toMatchObject({ before: 101_000, after: 101_110 })
    expect(totals.css.br).toMatchObject({ before: 300, after: 300, verdict: 'same' })
    expect(totals.other.identity).toMatchObject({ before: 10, after: 20, percent: 100 })
  })

  test('has consistent sums of files, kinds and the total', () => {
    const size = fc.integer({ min: 0, max: 99_999 })
    const sketch: fc.Arbitrary<FileSketch> = fc.record({
      path: fc.stringMatching(/^assets\/[a-c]-[A-F0-9]{8}\.(?:js|css|html|png)$/),
      size,
      variants: fc.record({ br: size, gzip: size, zstd: size }, { requiredKeys: [] }),
    })
    const build = fc.uniqueArray(sketch, { selector: ({ path }) => path, maxLength: 15 }).map(makeManifest)
    fc.assert(
      fc.property(build, build, (one, other) => {
        const { files, totals } = compareBuilds(one, other)
        for (const column of sizeColumns) {
          const ofKinds = fileKinds.map((kind) => totals[kind][column])
          expect(sumOfBytes(files.map(({ sizes }) => sizes[column]))).toBe(totals.total[column].bytes)
          expect(sumOfBytes(ofKinds)).toBe(totals.total[column].bytes)
        }
      }),
    )
  })

  test('finds no change between a build and itself', () => {
    const { files, totals } = compareBuilds(before, before)
    expect(files.every(({ state }) => state === 'same')).toBe(true)
    expect(totals.total.sent.bytes).toBe(0)
  })
})
