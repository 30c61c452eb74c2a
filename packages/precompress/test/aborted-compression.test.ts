import { randomBytes } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { manifestPath } from '@serve-dist/manifest'
import { compressionTools, precompress, runCompression } from '../src/compression/precompress.ts'
import { makeFolder } from './support/make-folder.ts'
import { readFolder } from './support/read-folder.ts'

const reason = new Error('the caller aborted')
const large = { 'large.txt': randomBytes(200_000).toString('hex') }
const many = Object.fromEntries(
  Array.from({ length: 100 }, (_, index) => [`${index}.txt`, randomBytes(2000).toString('hex')]),
)

describe('precompress with a signal', { timeout: 30_000 }, () => {
  test.each([
    { what: 'a large file is', files: large },
    { what: 'many small files are', files: many },
  ])('aborts while $what encoded, and leaves the folder unchanged', async ({ files }) => {
    const failures = new Set<(reason: unknown) => void>()
    /** Runs until the thread ends. */
    const work = async (): Promise<never> => await new Promise((_resolve, reject) => failures.add(reject))
    const end = async (): Promise<void> => {
      for (const fail of failures) fail(new Error('it was ended'))
    }
    const startThread = () => ({ encodeFile: work, compressBatch: work, end })
    const folder = await makeFolder(files)
    const controller = new AbortController()
    const options = { cache: false, signal: controller.signal }
    const pass = runCompression(folder, options, { tools: { ...compressionTools, startThread } })
    const failure = pass.catch((error: unknown) => error)
    await vi.waitUntil(() => failures.size > 0)
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect([...(await readFolder(folder)).keys()].toSorted()).toEqual(Object.keys(files).toSorted())

    const { manifest } = await precompress(folder, { cache: false })
    expect(manifest.files.every(({ variants }) => variants.length > 0)).toBe(true)
  })

  test('does nothing if the signal is already aborted, and keeps the earlier build', async () => {
    const folder = await makeFolder({ 'index.html': 'one' })
    await precompress(folder, { cache: false })
    const before = await readFolder(folder)
    const failure = precompress(folder, { cache: false, signal: AbortSignal.abort(reason), base: '/app/' })
    await expect(failure).rejects.toBe(reason)
    expect(await readFolder(folder)).toEqual(before)
  })

  test('examines no file if the signal aborts while the folder is listed', async () => {
    const folder = await makeFolder({ 'index.html': 'one', '.serve-dist/manifest.json': '{' })
    const controller = new AbortController()
    const onProgress = vi.fn<() => void>()
    const failure = precompress(folder, {
      cache: false,
      signal: controller.signal,
      onProgress,
      // The warning about the invalid manifest occurs while the folder is listed.
      onWarning: () => controller.abort(reason),
    })
    await expect(failure).rejects.toBe(reason)
    expect(onProgress).not.toHaveBeenCalled()
  })

  test('moves no files if the signal aborts after everything is encoded', async () => {
    const folder = await makeFolder({ 'index.html': 'one '.repeat(200) })
    const controller = new AbortController()
    const linksOf = (): [] => {
      controller.abort(reason)
      return []
    }
    await expect(precompress(folder, { cache: false, signal: controller.signal, linksOf })).rejects.toBe(
      reason,
    )
    expect([...(await readFolder(folder)).keys()]).toEqual(['index.html'])
    expect((await precompress(folder, { cache: false })).written).toContain(manifestPath)
  })
})
