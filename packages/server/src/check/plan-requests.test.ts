import { describe, expect, test } from 'vitest'
import { buildFixture, type FixtureFiles } from '../../test/support/build-fixture.ts'
import { loadSite } from '../load/load-site.ts'
import { planRequests, type RequestPlan } from './plan-requests.ts'

/** Files with their sizes at the end of their names. */
function sized(folder: string, count: number): FixtureFiles {
  const sizes = Array.from({ length: count }, (_, index) => index + 1)
  return Object.fromEntries(sizes.map((size) => [`${folder}/${size}.bin`, new Uint8Array(size)]))
}

async function planOf(files: FixtureFiles, all = false): Promise<RequestPlan> {
  const directory = await buildFixture(files, { isHashed: (path) => path.startsWith('assets/') })
  return planRequests(await loadSite(directory, { onWarning: () => {} }), { all })
}

function names({ targets }: RequestPlan): string[] {
  return targets.map(({ name }) => name)
}

describe('planRequests', () => {
  test('plans all pages, the home page first, and uses the URLs of links', async () => {
    const plan = await planOf({
      'about.html': 'about',
      'guide/index.html': 'guide',
      'index.html': 'front',
      'a b.txt': 'text',
      'assets/main.js.map': '{}',
      _redirects: '/about /guide/ 301!',
    })
    expect(names(plan)).toEqual(['', 'guide/', 'a%20b.txt'])
    expect(plan.files).toBe(3)
  })

  test('plans the 25 largest hashed files, and 25 others that are the same each time', async () => {
    const files = { 'index.html': 'front', ...sized('assets', 40), ...sized('files', 100) }
    const plan = await planOf(files)
    const largest = Array.from({ length: 25 }, (_, index) => `assets/${40 - index}.bin`)
    expect(names(plan).slice(1, 26)).toEqual(largest)
    expect(plan.targets).toHaveLength(51)
    expect(names(await planOf(files))).toEqual(names(plan))
    const drawn = names(plan).slice(26)
    expect(drawn.some((name) => name.startsWith('files/'))).toBe(true)
    expect(new Set(names(plan)).size).toBe(51)
  })

  test('plans every file with --all', async () => {
    const files = { 'index.html': 'front', ...sized('files', 100) }
    expect((await planOf(files, true)).targets).toHaveLength(101)
  })

  test('counts a request for each coding, and the bytes of each body', async () => {
    const plan = await planOf({ 'index.html': 'x' })
    expect(plan).toMatchObject({ requests: 3 + 17, bytes: 2 })
  })
})
