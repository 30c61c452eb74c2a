import { readdir, unlink, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pruneCache } from './prune-cache.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

const day = 24 * 60 * 60 * 1000
const settings = { size: 1e9, bytesAdded: 0 }
const temporary = '3ca1.0b0f0c5a-5a0b-4d53-9a0e-0d6f3b5f1d11'

/** Creates a cache that was pruned two days ago. Each entry has the number of days since its last use. */
async function makeCache(entries: Record<string, number>): Promise<string> {
  const names = Object.keys(entries).map((name) => [`entries-1/ab/${name}`, 'entry'])
  const directory = await makeFolder({ ...Object.fromEntries(names), pruned: '' })
  const setBack = async (path: string, days: number): Promise<void> => {
    const time = (Date.now() - days * day) / 1000
    await utimes(join(directory, path), time, time)
  }
  await setBack('pruned', 2)
  for (const [name, days] of Object.entries(entries)) await setBack(`entries-1/ab/${name}`, days)
  return directory
}

async function namesLeft(directory: string): Promise<string[]> {
  return await readdir(join(directory, 'entries-1/ab'))
}

async function removeAllButSecond(path: string): Promise<void> {
  if (basename(path) === 'second') throw new Error('EPERM')
  await unlink(path)
}

describe('pruneCache', () => {
  test('continues if the system cannot remove an entry', async () => {
    const directory = await makeCache({ first: 31, second: 32, third: 33, used: 29 })
    await pruneCache(directory, { ...settings, remove: removeAllButSecond })
    expect(await namesLeft(directory)).toEqual(['second', 'used'])
  })

  test('removes temporary files after one day', async () => {
    const directory = await makeCache({ [temporary]: 1.1, '3ca1': 1.1 })
    await pruneCache(directory, settings)
    expect(await namesLeft(directory)).toEqual(['3ca1'])
  })

  test('keeps temporary files that another compression may be writing', async () => {
    const directory = await makeCache({ [temporary]: 0.1 })
    await pruneCache(directory, settings)
    expect(await namesLeft(directory)).toEqual([temporary])
  })
})
