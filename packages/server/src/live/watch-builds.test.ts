import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pendingPath } from '@serve-dist/manifest'
import { expect, onTestFinished, test, vi } from 'vitest'
import { buildFixture } from '../../test/support/build-fixture.ts'
import { changedFiles } from '../files/changed-files.ts'
import { watchedFolder } from '../load/watched-builds.ts'
import { watchBuilds } from './watch-builds.ts'

/** Longer than the test, so that the watcher checks only on request. */
const interval = 10_000

test('retries a rejected build at each interval while files of the current build change', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const directory = await buildFixture({ 'index.html': 'page' })
  const onNewBuild = vi.fn<() => Promise<boolean>>(async () => false)
  const watched = watchedFolder(directory, { since: undefined, interval })
  const watcher = watchBuilds(watched, onNewBuild)
  onTestFinished(() => watcher.close())
  const triesAfter = async (intervals: number, isChanged = false): Promise<number> => {
    onNewBuild.mockClear()
    vi.advanceTimersByTime(intervals * interval)
    if (isChanged) for (let answer = 0; answer < 5; answer += 1) changedFiles.publish('large.bin')
    await watched.lookNow?.()
    return onNewBuild.mock.calls.length
  }
  expect(await triesAfter(0)).toBe(1)
  const unchanged = [await triesAfter(1), await triesAfter(1), await triesAfter(1), await triesAfter(3)]
  expect(unchanged).toEqual([1, 0, 1, 0])
  for (let time = 0; time < 5; time += 1) {
    expect(await triesAfter(1, true)).toBe(1)
    expect(await triesAfter(0.5, true)).toBe(0)
    expect(await triesAfter(0.5, true)).toBe(1)
  }
})

test('waits while a compression step commits a build, unless it was interrupted', async () => {
  const directory = await buildFixture({ 'index.html': 'page' })
  const watched = watchedFolder(directory, { since: undefined, interval })
  const finished = await watched.mark()
  const journal = join(directory, pendingPath)
  await writeFile(journal, '{}')
  expect(await watched.mark()).toBeUndefined()
  for (const seconds of [-60, 60]) {
    const time = new Date(Date.now() + seconds * 1000)
    await utimes(journal, time, time)
    expect(await watched.mark()).toBe(finished)
  }
})
