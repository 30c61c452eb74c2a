import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { precompress } from '@serve-dist/precompress'
import { describe, expect, test } from 'vitest'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { listOpenFilesIn } from '../support/list-open-files-in.ts'

describe.skipIf(process.platform !== 'linux')('a streamed body through fetch', () => {
  test('opens its file only while it is read, and closes it at the end or when cancelled', async () => {
    const directory = await buildFixture({ 'big.bin': 'x'.repeat(300_000) })
    const handle = createFetchHandler(await loadSite(directory, { memoryBudget: 0 }))
    const ask = async (): Promise<Response | undefined> => await handle(new Request('http://x/big.bin'))

    const unread = await Promise.all([ask(), ask(), ask()])
    expect(unread.map((response) => response?.status)).toEqual([200, 200, 200])
    expect(listOpenFilesIn(directory)).toHaveLength(0)

    const reader = (await ask())?.body?.getReader()
    await reader?.read()
    expect(listOpenFilesIn(directory)).toHaveLength(1)
    await reader?.cancel()
    expect(listOpenFilesIn(directory)).toHaveLength(0)

    expect((await (await ask())?.text())?.length).toBe(300_000)
    expect(listOpenFilesIn(directory)).toHaveLength(0)
  })

  test('has the bytes of the build that decided it, although another build was swapped in before the read', async () => {
    const directory = await buildFixture({ 'big.bin': 'x'.repeat(300_000) })
    const live = await openLiveSite(directory, { memoryBudget: 0 })
    const handle = createFetchHandler(live)
    const ask = async (): Promise<Response | undefined> => await handle(new Request('http://x/big.bin'))
    const [read, cancelled] = [await ask(), await ask()]
    await writeFile(join(directory, 'new'), 'y'.repeat(300_000))
    await rename(join(directory, 'new'), join(directory, 'big.bin'))
    await precompress(directory)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    expect(listOpenFilesIn(directory)).toHaveLength(2)
    expect(await read?.text()).toBe('x'.repeat(300_000))
    expect(await (await ask())?.text()).toBe('y'.repeat(300_000))
    await cancelled?.body?.cancel()
    await expect.poll(() => listOpenFilesIn(directory)).toHaveLength(1)
    live.close()
    await expect.poll(() => listOpenFilesIn(directory)).toEqual([])
  })

  test('becomes a 404 if its file is deleted', async () => {
    const directory = await buildFixture({ 'big.bin': 'x'.repeat(300_000) })
    const site = await loadSite(directory, { memoryBudget: 0 })
    const handle = createFetchHandler(site, { onProblem: () => undefined })
    await rm(join(directory, 'big.bin'))
    expect((await handle(new Request('http://x/big.bin')))?.status).toBe(404)
  })
})
