import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fakeSite } from '../../test/support/fake-site.ts'
import { readEngineTable } from '../../test/support/read-engine-table.ts'
import type { FlatSite } from './engine-table.ts'
import { followSite } from './follow-site.ts'

const [small, next] = [fakeSite({ 'a.txt': 'a' }), fakeSite({ 'b.txt': 'b' })]
const large = fakeSite(
  Object.fromEntries(Array.from({ length: 3000 }, (_, number) => [`f-${number}.txt`, 'f'])),
)

function follow(): { given: FlatSite[]; paths: () => number[]; follower: ReturnType<typeof followSite> } {
  const given: FlatSite[] = []
  const follower = followSite((answers) => void given.push(answers))
  return { given, paths: () => given.map((answers) => readEngineTable(answers).size), follower }
}

/** A clock that goes on by half a millisecond with each look, however fast the machine is: a few steps make a slice. */
let now = 0
const clock = vi.spyOn(performance, 'now')
beforeAll(() => void clock.mockImplementation(() => (now += 0.5)))
afterAll(() => clock.mockRestore())

describe('followSite', () => {
  test('gives the answers of a small site at once', () => {
    const { paths, follower } = follow()
    follower.swap(small)
    expect(paths()).toEqual([small.table.size])
  })

  test('leaves a large site to Node until its table is made', async () => {
    const { paths, follower } = follow()
    follower.swap(large)
    expect(paths()).toEqual([0])
    await vi.waitFor(() => expect(paths()).toEqual([0, large.table.size]))
  })

  test('gives at once what was made before, however large', async () => {
    const { paths, follower } = follow()
    await follower.prepare(large)
    follower.swap(large)
    expect(paths()).toEqual([large.table.size])
  })

  test('gives no answers of a site whose place another has taken meanwhile', async () => {
    const { paths, follower } = follow()
    follower.swap(large)
    follower.swap(next)
    await follower.prepare(large)
    expect(paths()).toEqual([0, next.table.size])
  })

  test('makes nothing of a site that was prepared and does not come', async () => {
    const { given, paths, follower } = follow()
    await follower.prepare(large)
    follower.swap(next)
    expect(paths()).toEqual([next.table.size])
    expect(given).toHaveLength(1)
  })
})
