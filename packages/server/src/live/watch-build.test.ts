import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildFixture } from '../../test/support/build-fixture.ts'
import { changedFiles } from '../files/changed-files.ts'
import { watchedFolder } from '../load/watched-builds.ts'
import { watchBuilds } from './watch-build.ts'

const interval = 100
/** By then three tries were refused, and the fourth would come 800 ms after the last. */
const untilItIsRare = 1000

test('a refused build is tried again at each interval while files of the one that is served are found changed', async () => {
  const directory = await buildFixture({ 'index.html': 'page' })
  const onNewBuild = vi.fn<() => Promise<boolean>>(async () => false)
  const watched = watchedFolder(directory, { since: undefined, interval })
  const watcher = watchBuilds(watched, onNewBuild)
  onTestFinished(() => watcher.close())
  await setTimeout(untilItIsRare)
  onNewBuild.mockClear()
  const end = performance.now() + 700
  while (performance.now() < end) {
    for (let answer = 0; answer < 5; answer += 1) changedFiles.publish('large.bin')
    await setTimeout(10)
  }
  const tries = onNewBuild.mock.calls.length
  expect(tries).toBeGreaterThan(2)
  expect(tries).toBeLessThan(9)
})
