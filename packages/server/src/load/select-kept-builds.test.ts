import { describe, expect, test } from 'vitest'
import { keepFileOpen } from '../files/kept-file.ts'
import { fakeBuild, type FakeFile } from '../../test/support/fake-site.ts'
import { type EarlierBuild, selectKeptBuilds, type KeepLimits } from './select-kept-builds.ts'

const day = 24 * 60 * 60 * 1000
const now = 100 * day
const roomy: KeepLimits = { memoryBudget: 1_000_000, openFiles: 10, now }

/** Makes a build with the number in each hashed name. `open` and `closed` are streamed files. */
function build(
  number: number,
  sizes: Readonly<Record<string, number | 'open' | 'closed'>>,
  age = day / 2,
): EarlierBuild {
  const files = Object.entries(sizes).map(([name, size]): [string, FakeFile] => [
    name.replace('#', String(number)),
    {
      body: 'x'.repeat(typeof size === 'number' ? size : 100),
      cache: 'immutable',
      isStreamed: typeof size === 'string',
    },
  ])
  const made = fakeBuild(Object.fromEntries(files), { buildId: String(number).padStart(16, '0') })
  const open = made.manifest.files.filter((_file, index) => Object.values(sizes)[index] === 'open')
  for (const file of open) keepFileOpen(stored(made, file), -1, () => {})
  return { ...made, superseded: now - age }
}

function stored(made: Pick<EarlierBuild, 'stored'>, file: EarlierBuild['manifest']['files'][number]) {
  const found = made.stored.get(file)
  if (found === undefined) throw new TypeError(file.path)
  return found
}

/** Returns the kept builds, the newest first. */
function keep(current: EarlierBuild, earlier: readonly EarlierBuild[], limits: Partial<KeepLimits> = {}) {
  return selectKeptBuilds(current, { immutable: [] }, earlier, { ...roomy, ...limits })
}

const pathsOf = (builds: readonly EarlierBuild[]): string[] =>
  builds.flatMap(({ manifest }) => manifest.files.map(({ path }) => path))

describe('selectKeptBuilds', () => {
  test('keeps only bodies in memory and open files', () => {
    const kept = keep(build(2, { 'a#': 1 }), [build(1, { 'a#': 1, 'b#': 'open', 'c#': 'closed' })])
    expect(pathsOf(kept)).toEqual(['a1', 'b1'])
  })

  test('keeps each file from the newest build that has it, and skips files of the current build', () => {
    const kept = keep(build(3, { same: 1 }), [
      build(2, { same: 1, two: 1 }),
      build(1, { same: 1, two: 1, one: 1 }),
    ])
    expect(pathsOf(kept)).toEqual(['two', 'one'])
    expect(kept.map(({ manifest }) => manifest.buildId)).toEqual([
      expect.stringMatching(/2$/),
      expect.stringMatching(/1$/),
    ])
  })

  test('skips the current build in its earlier versions, for example after a rollback', () => {
    expect(pathsOf(keep(build(1, { 'a#': 1 }), [build(2, { 'a#': 1 }), build(1, { 'b#': 1 })]))).toEqual([
      'a2',
    ])
  })

  test('keeps the last five builds, and builds that were replaced within seven days', () => {
    const numbers = [9, 8, 7, 6, 5, 4, 3]
    const current = build(10, {})
    expect(
      keep(
        current,
        numbers.map((number) => build(number, { 'a#': 1 })),
      ),
    ).toHaveLength(7)
    const old = numbers.map((number) => build(number, { 'a#': 1 }, (number === 4 ? 6.9 : 7) * day))
    expect(pathsOf(keep(current, old))).toEqual(['a9', 'a8', 'a7', 'a6', 'a5', 'a4'])
  })

  test('drops the oldest builds first if memory is short', () => {
    const builds = [build(3, { 'a#': 4000 }), build(2, { 'a#': 4000 }), build(1, { 'a#': 4000 })]
    const current = build(4, { 'a#': 5000 })
    expect(pathsOf(keep(current, builds, { memoryBudget: 5000 + 2 * (4000 + 2048) }))).toEqual(['a3', 'a2'])
    expect(pathsOf(keep(current, builds, { memoryBudget: 6000 }))).toEqual([])
  })

  test('limits the open files of all builds together', () => {
    const builds = [build(2, { 'a#': 'open' }), build(1, { 'a#': 'open' })]
    expect(pathsOf(keep(build(3, { 'a#': 'open' }), builds, { openFiles: 2 }))).toEqual(['a2'])
  })

  test('omits times in the future, like a replica that serves the build as its current one', () => {
    const made = build(1, { 'a#': 1, 'b#': 1 })
    const [{ manifest } = made] = keep(build(2, {}), [made])
    expect(manifest.timesAreFixed).toBe(undefined)
    const [first, ...others] = made.manifest.files
    if (first === undefined) throw new TypeError('no file')
    Object.assign(first, { lastModified: '9999-12-31T23:59:59Z' })
    const [ahead] = keep(build(2, {}), [
      { ...made, manifest: { ...made.manifest, files: [first, ...others] } },
    ])
    expect(ahead?.manifest.timesAreFixed).toBe(true)
  })

  test('copies a small body to release the allocation of its build', () => {
    const earlier = build(1, { 'a#': 10 })
    const file = earlier.manifest.files[0]
    if (file === undefined) throw new TypeError('no file')
    const body = new Uint8Array(new Uint8Array(1000).buffer, 500, 10)
    const [kept] = keep(build(2, {}), [{ ...earlier, stored: new Map([[file, { size: 10, body }]]) }])
    const bytes = [...(kept?.stored.values() ?? [])].map((each) => each.body?.buffer.byteLength)
    expect(bytes).toEqual([10])
  })
})
