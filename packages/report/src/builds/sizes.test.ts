import { describe, expect, test } from 'vitest'
import { preferenceCost } from './preference-cost.ts'
import { sentCoding, sizesOf, smallestCoding } from './sizes.ts'
import { type FileSketch, makeManifest } from '../../test/support/make-manifest.ts'

function file(variants: FileSketch['variants'] = {}) {
  const [made] = makeManifest([{ path: 'a.js', size: 1000, variants }]).files
  if (made === undefined) throw new Error('no file was made')
  return made
}

describe('sizesOf', () => {
  test('uses the uncompressed size if a file has no variant', () => {
    expect(sizesOf(file({ br: 300 }))).toEqual({
      identity: 1000,
      gzip: 1000,
      br: 300,
      zstd: 1000,
      sent: 300,
      smallest: 300,
    })
  })

  test('uses the default order for sent and the fewest bytes for smallest', () => {
    const { sent, smallest } = sizesOf(file({ gzip: 350, br: 300, zstd: 320 }))
    expect({ sent, smallest }).toEqual({ sent: 320, smallest: 300 })
  })
})

describe('sizesOf with `prefer: "smallest"`', () => {
  const variants = { gzip: 350, br: 300, zstd: 320 }

  test('uses the smallest size as sent', () => {
    const { sent, smallest } = sizesOf(file(variants), { serving: { prefer: 'smallest' } })
    expect({ sent, smallest }).toEqual({ sent: 300, smallest: 300 })
    expect(sizesOf(file(variants), { serving: { prefer: 'order' } }).sent).toBe(320)
    expect(sizesOf(file(variants), { serving: { earlyHints: true } }).sent).toBe(320)
  })
})

describe('sentCoding and smallestCoding', () => {
  test.each<[Parameters<typeof file>[0], string, string]>([
    [{ gzip: 350, br: 300, zstd: 320 }, 'zstd', 'br'],
    [{ gzip: 300, br: 300, zstd: 300 }, 'zstd', 'zstd'],
    [{ gzip: 290, br: 300 }, 'br', 'gzip'],
    [{ gzip: 1 }, 'gzip', 'gzip'],
    [{}, 'identity', 'identity'],
  ])('for %o return %s and %s', (variants, sent, smallest) => {
    expect([sentCoding(file(variants)), smallestCoding(file(variants))]).toEqual([sent, smallest])
  })
})

describe('preferenceCost', () => {
  test('returns the cost of the default order for all files', () => {
    const { files } = makeManifest([
      { path: 'a.js', size: 1000, variants: { br: 300, zstd: 320 } },
      { path: 'b.js', size: 1000, variants: { br: 200, zstd: 180 } },
      { path: 'c.png', size: 500 },
    ])
    expect(preferenceCost({ files })).toEqual({
      prefer: 'order',
      first: 'zstd',
      sent: 1000,
      smallest: 980,
      bytes: 20,
      percent: (20 / 980) * 100,
    })
  })

  test('is 0 for a build without files', () => {
    expect(preferenceCost({ files: [] })).toMatchObject({ first: 'identity', bytes: 0, percent: 0 })
  })
})
