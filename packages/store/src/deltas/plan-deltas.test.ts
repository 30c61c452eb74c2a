import { dictionariesOf, type Manifest, type ManifestFile } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NamedBlob } from '../layout.ts'
import type { DeltasDocument } from './deltas-document.ts'
import { selectAvailableDeltas, type DictionaryBuild, planDeltas } from './plan-deltas.ts'

const digests = fc.constantFrom(...'0123456789'.split('').map((digit) => digit.repeat(64)))
/** Derives the size from the digest, because equal contents have equal sizes. */
const sizeOf = (sha256: string): number => 200 + Number(sha256[0]) * 1000

const described = { cache: 'immutable', lastModified: '2026-01-01T00:00:00Z', variants: [] } as const

const files: fc.Arbitrary<ManifestFile> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c'),
    sha256: digests,
    cache: fc.constantFrom('immutable' as const, 'immutable' as const, 'revalidate' as const),
    mediaType: fc.constantFrom('text/javascript', 'text/css', 'image/png'),
  })
  .map(({ name, sha256, cache, mediaType }) => ({
    lastModified: '2026-01-01T00:00:00Z',
    variants: [],
    sha256,
    cache,
    mediaType,
    path: `assets/${name}-${sha256.slice(0, 8)}`,
    stem: `assets/${name}-[hash]`,
    size: sizeOf(sha256),
  }))

function buildOf(...all: readonly ManifestFile[]): Manifest {
  return {
    version: 1,
    buildId: 'b'.repeat(32),
    base: '/',
    appType: 'spa',
    assetsDirectory: 'assets',
    lastModified: '2026-01-01T00:00:00Z',
    files: all,
  }
}

const manifests: fc.Arbitrary<Manifest> = fc
  .uniqueArray(files, { selector: ({ path }) => path, maxLength: 12 })
  .map((all) => buildOf(...all))

const blobs: fc.Arbitrary<NamedBlob> = digests.map((sha256) => ({ sha256, size: 9 }))
const documents: fc.Arbitrary<DeltasDocument> = fc
  .array(
    fc.tuple(
      digests,
      fc
        .array(fc.tuple(digests, fc.oneof(fc.record({ dcz: blobs }), fc.record({ dcz: blobs, dcb: blobs }))))
        .map((entries) => new Map(entries)),
    ),
  )
  .map((entries) => ({ version: 1, files: new Map(entries) }))

function dictionaryFiles(manifest: Manifest): readonly ManifestFile[] {
  return [...dictionariesOf(manifest).values()].map(({ file }) => file)
}

const builds: fc.Arbitrary<DictionaryBuild> = fc.record({
  manifest: manifests,
  deltas: fc.option(documents, { nil: undefined }),
})

const inputs = fc.tuple(manifests, fc.array(builds, { maxLength: 3 }), fc.uniqueArray(digests))

/** Returns a build of two scripts whose digests repeat these digits. */
function twoScripts(one: number, other: number): Manifest {
  const [first, second] = [scriptOf(String(one).repeat(64)), scriptOf(String(other).repeat(64))]
  return buildOf(first, { ...second, path: `assets/b-${other}.js`, stem: 'assets/b-[hash].js' })
}

function scriptOf(sha256: string): ManifestFile {
  const [path, stem] = [`assets/a-${sha256}.js`, 'assets/a-[hash].js']
  return { ...described, path, stem, mediaType: 'text/javascript', size: 1000, sha256 }
}

describe('planDeltas', () => {
  test('plans or carries over one delta for each file and each earlier content of it', () => {
    fc.assert(
      fc.property(inputs, ([manifest, earlier, there]) => {
        const { carried, pairs } = planDeltas(manifest, earlier, ({ sha256 }) => there.includes(sha256))
        const wanted = new Set<string>()
        for (const file of dictionaryFiles(manifest)) {
          for (const build of earlier) {
            const dictionary = dictionariesOf(build.manifest).get(file.stem ?? '')?.file
            if (dictionary === undefined || dictionary.sha256 === file.sha256) continue
            if (carried.get(file.sha256)?.has(dictionary.sha256) !== true) {
              wanted.add(`${file.sha256} ${dictionary.sha256}`)
            }
          }
        }
        const planned = pairs.map(({ file, dictionary }) => `${file.sha256} ${dictionary.sha256}`)
        expect(planned.toSorted()).toEqual([...wanted].toSorted())
      }),
    )
  })

  test('carries over available deltas of current files from the newest build that has them', () => {
    fc.assert(
      fc.property(inputs, ([manifest, earlier, there]) => {
        const isThere = ({ sha256 }: NamedBlob): boolean => there.includes(sha256)
        const { carried } = planDeltas(manifest, earlier, isThere)
        const eligible = dictionaryFiles(manifest).map(({ sha256 }) => sha256)
        for (const [sha256, deltas] of carried) {
          expect(eligible).toContain(sha256)
          for (const [from, variants] of deltas) {
            const newest = earlier.find((build) => build.deltas?.files.get(sha256)?.has(from) === true)
            const known = newest?.deltas?.files.get(sha256)?.get(from)
            expect(known).toMatchObject(variants)
            expect(Object.values(variants).every(isThere)).toBe(true)
          }
        }
      }),
    )
  })

  test('plans at most three deltas for new files with equal bytes', () => {
    const earlier = [1, 3, 5].map((number) => ({
      manifest: twoScripts(number, number + 1),
      deltas: undefined,
    }))
    expect(planDeltas(twoScripts(0, 0), earlier, () => true).pairs).toHaveLength(3)
  })

  test('carries over at most eight deltas of a file that alternates, including those from the latest builds', () => {
    const contents = Array.from({ length: 40 }, (_, number) => number.toString(16).padStart(64, '0'))
    const [back = '', ...others] = contents
    const history: DictionaryBuild[] = []
    for (const other of others) {
      for (const sha256 of [other, back]) {
        const manifest = buildOf(scriptOf(sha256))
        const { carried, pairs } = planDeltas(manifest, history.slice(0, 3), () => true)
        const known = new Map(carried)
        for (const { file, dictionary } of pairs) {
          const variants = { dcz: { sha256: dictionary.sha256, size: 9 } }
          const deltas = known.get(file.sha256) ?? []
          known.set(file.sha256, new Map([...deltas, [dictionary.sha256, variants]]))
        }
        history.unshift({ manifest, deltas: { version: 1, files: known } })
      }
    }
    const [last] = history
    const from = [...(last?.deltas?.files.get(back)?.keys() ?? [])]
    expect(from).toHaveLength(9)
    expect(from).toEqual(expect.arrayContaining(others.slice(-2)))
  })

  test('starts with the latest build and its largest file', () => {
    fc.assert(
      fc.property(inputs, ([manifest, earlier]) => {
        const { pairs } = planDeltas(manifest, earlier, () => false)
        const places = pairs.map(({ file, dictionary }) => {
          const build = earlier.findIndex(
            (each) => dictionariesOf(each.manifest).get(file.stem ?? '')?.file.sha256 === dictionary.sha256,
          )
          return [build, -file.size] as const
        })
        expect(places.every(([build]) => build >= 0)).toBe(true)
        expect(places).toEqual(places.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]))
      }),
    )
  })
})

function list(document: DeltasDocument['files']): readonly string[] {
  return [...document].flatMap(([file, deltas]) =>
    [...deltas].flatMap(([from, variants]) =>
      Object.entries(variants).map(([coding, blob]) => `${file} ${from} ${coding} ${blob.sha256}`),
    ),
  )
}

describe('selectAvailableDeltas', () => {
  test('keeps available deltas and drops files and dictionaries without any', () => {
    fc.assert(
      fc.property(documents, fc.uniqueArray(digests), (document, there) => {
        const left = selectAvailableDeltas(document.files, ({ sha256 }) => there.includes(sha256))
        const isThere = (line: string): boolean => there.includes(line.split(' ')[3] ?? '')
        expect(list(left)).toEqual(list(document.files).filter(isThere))
        for (const deltas of left.values()) {
          expect(deltas.size).toBeGreaterThan(0)
          for (const variants of deltas.values()) expect(Object.keys(variants)).not.toEqual([])
        }
      }),
    )
  })
})
