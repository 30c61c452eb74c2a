import { readdirSync, readlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFetchHandler } from './fetch.ts'
import { loadSite } from './load-site.ts'
import { buildFixture } from './testing/build-fixture.ts'

/** How many descriptors this process has open on files below a folder. */
function openIn(directory: string): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // Closed since it was listed.
      return ''
    }
  })
  return targets.filter((target) => target.startsWith(directory)).length
}

describe.skipIf(process.platform !== 'linux')('a streamed body through fetch', () => {
  test('holds nothing open while nobody reads it, and closes when it is cancelled or read', async () => {
    const directory = await buildFixture({ 'big.bin': 'x'.repeat(300_000) })
    const handle = createFetchHandler(await loadSite(directory, { memoryBudget: 0 }))
    const ask = async (): Promise<Response | undefined> => await handle(new Request('http://x/big.bin'))

    const unread = await Promise.all([ask(), ask(), ask()])
    expect(unread.map((response) => response?.status)).toEqual([200, 200, 200])
    expect(openIn(directory)).toBe(0)

    const reader = (await ask())?.body?.getReader()
    await reader?.read()
    expect(openIn(directory)).toBe(1)
    await reader?.cancel()
    expect(openIn(directory)).toBe(0)

    expect((await (await ask())?.text())?.length).toBe(300_000)
    expect(openIn(directory)).toBe(0)
  })

  test('is a clean 404 when its file has gone', async () => {
    const directory = await buildFixture({ 'big.bin': 'x'.repeat(300_000) })
    const site = await loadSite(directory, { memoryBudget: 0 })
    const handle = createFetchHandler(site, { onProblem: () => undefined })
    await rm(join(directory, 'big.bin'))
    expect((await handle(new Request('http://x/big.bin')))?.status).toBe(404)
  })
})
