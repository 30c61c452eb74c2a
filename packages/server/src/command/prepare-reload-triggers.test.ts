import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath } from '@serve-dist/manifest'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { prepareReloadTriggers, type Reload } from './prepare-reload-triggers.ts'
import { buildFixture } from '../../test/support/build-fixture.ts'

const patience = { timeout: 10_000 }

afterEach(() => {
  vi.restoreAllMocks()
})

describe('prepareReloadTriggers', () => {
  test.each([
    ['deleted', false],
    ['replaced', true],
  ])('does not report a rejected build that is %s while it loads', async (_what, isReplaced) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const directory = await buildFixture({ 'index.html': 'page' })
    const manifest = join(directory, manifestPath)
    const place = async (text: string): Promise<void> => {
      await writeFile(`${manifest}.new`, text)
      await rename(`${manifest}.new`, manifest)
    }
    const reload = vi.fn<Reload>()
    reload.mockImplementationOnce(async () => {
      await rm(manifest)
      if (isReplaced) await place('third')
      return { status: 'refused', buildId: 'first', problems: ['files are missing'] }
    })
    const counts = { unlistedFiles: 0, keptBuilds: 0, keptFiles: 0 }
    reload.mockResolvedValue({ status: 'swapped', buildId: 'third', replaced: 'first', ...counts })

    const start = await prepareReloadTriggers([directory], { watch: true })
    const triggers = start(reload)
    await place('second')
    // Wait until it has resolved: a running call could still delete the third build.
    await vi.waitFor(() => expect(reload).toHaveResolved(), patience)
    if (!isReplaced) await place('third')
    await vi.waitFor(() => expect(write).toHaveBeenCalled(), patience)
    triggers.close()
    expect(write.mock.calls).toEqual([['serve-dist: now serving build third (was first)\n']])
  })
})
