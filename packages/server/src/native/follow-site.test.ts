import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fakeSite } from '../../test/support/fake-site.ts'
import { readEngineTable } from '../../test/support/read-engine-table.ts'
import type { FlatSite } from './engine-table.ts'
import { followSite } from './follow-site.ts'

// Node answers the list of kept files.
const rules = { keptList: false }
const [small, next] = [fakeSite({ 'a.txt': 'a' }, { rules }), fakeSite({ 'b.txt': 'b' }, { rules })]
const large = fakeSite(
  Object.fromEntries(Array.from({ length: 3000 }, (_, number) => [`f-${number}.txt`, 'f'])),
  { rules },
)

function follow(): { given: FlatSite[]; paths: () => number[]; follower: ReturnType<typeof followSite> } {
  const given: FlatSite[] = []
  const follower = followSite((answers) => void given.push(answers))
  return { given, paths: () => given.map((answers) => readEngineTable(answers).size), follower }
}

/** A clock that advances half a millisecond per read on any machine: a few steps make a slice. */
let now = 0
const clock = vi.spyOn(performance, 'now')
beforeAll(() => void clock.mockImplementation(() => (now += 0.5)))
afterAll(() => clock.mockRestore())

describe('followSite', () => {
  test('gives the answers of a small site immediately', () => {
    const { paths, follower } = follow()
    follower.swap(small)
    expect(paths()).toEqual([small.table.size])
  })

  test('leaves a large site to Node until its table is ready', async () => {
    const { paths, follower } = follow()
    follower.swap(large)
    expect(paths()).toEqual([0])
    await vi.waitFor(() => expect(paths()).toEqual([0, large.table.size]))
  })

  test('gives a prepared table of any size immediately', async () => {
    const { paths, follower } = follow()
    await follower.prepare(large)
    follower.swap(large)
    expect(paths()).toEqual([large.table.size])
  })

  test('gives no answers of a site that was replaced in the meantime', async () => {
    const { paths, follower } = follow()
    follower.swap(large)
    follower.swap(next)
    await follower.prepare(large)
    expect(paths()).toEqual([0, next.table.size])
  })

  test('releases the table of a prepared site that is never used', async () => {
    const { given, paths, follower } = follow()
    await follower.prepare(large)
    follower.swap(next)
    expect(paths()).toEqual([next.table.size])
    expect(given).toHaveLength(1)
  })
})
