import { createHash } from 'node:crypto'
import { closeSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestPath, parseManifest, variantPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { type Disk, disk } from '../folder/disk.ts'
import { compressionTools, precompress, runCompression } from '../compression/precompress.ts'
import type { PrecompressOptions } from '../precompress-options.ts'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { readFolder } from '../../test/support/read-folder.ts'

/** Creates a disk on which the given number of changes succeed. Then all changes fail, or only the next one. */
function mortalDisk(changes: number, isOneFailure: boolean): Disk {
  let changesLeft = changes
  const live = (): void => {
    changesLeft -= 1
    if (isOneFailure ? changesLeft === -1 : changesLeft < 0) throw new Error('killed')
  }
  return {
    writeNew: (path, bytes, makeParent) => {
      live()
      const descriptor = disk.writeNew(path, bytes.subarray(0, 0), makeParent)
      try {
        live()
      } catch (error) {
        closeSync(descriptor)
        throw error
      }
      writeSync(descriptor, bytes)
      return descriptor
    },
    rename: (from, to) => {
      live()
      disk.rename(from, to)
    },
    rm: async (path, options) => {
      live()
      await disk.rm(path, options)
    },
    rmdir: async (path) => {
      live()
      await disk.rmdir(path)
    },
    unlink: async (path) => {
      live()
      await disk.unlink(path)
    },
  }
}

const script = 'export const answer = () => "forty-two";\n'.repeat(100)
const first = { 'a.js': script, 'b.js': `${script}//`, 'gone.js': `${script}///`, 'own.csv.gz': 'mine' }
const second = { 'a.js': script.replaceAll('forty', 'fifty'), 'b.js': `${script}//`, 'new.css': script }

const firstOptions = { codings: ['br', 'gzip'] } as const
/** One coding less, so that unchanged originals lose a variant too. */
const secondOptions = { codings: ['br'] } as const

/** Runs one compression that fails after a number of changes, or fails in one. Returns whether it completed. */
async function compressAndDieAfter(
  changes: number,
  folder: string,
  options: PrecompressOptions & { readonly isOneFailure?: boolean },
): Promise<boolean> {
  const { isOneFailure = false, ...compressionOptions } = options
  const tools = { ...compressionTools, disk: mortalDisk(changes, isOneFailure) }
  return await runCompression(folder, compressionOptions, { tools }).then(
    () => true,
    () => false,
  )
}

async function rebuild(folder: string): Promise<void> {
  await rm(join(folder, 'gone.js'))
  await addFiles(folder, second)
}

/** Returns the paths that the manifest describes wrongly, `undefined` without a manifest. */
async function liesOf(folder: string): Promise<string[] | undefined> {
  const text = await readFile(join(folder, manifestPath), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const digests = await describeAll(folder)
  return parseManifest(text).files.flatMap((file) =>
    [{ path: file.path, sha256: file.sha256 }]
      .concat(file.variants.map(({ coding, sha256 }) => ({ path: variantPath(file.path, coding), sha256 })))
      .filter(({ path, sha256 }) => digests.get(path) !== sha256)
      .map(({ path }) => path),
  )
}

async function describeAll(folder: string): Promise<Map<string, string>> {
  const files = [...(await readFolder(folder))]
  return new Map(files.map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')]))
}

type Outcome = 'no manifest' | 'a true manifest' | 'a manifest of before the rebuild' | 'a false manifest'

/** Classifies the manifest. Originals that the rebuild changed before the compression do not make it false. */
async function outcomeIn(folder: string): Promise<Outcome> {
  const lies = await liesOf(folder)
  if (lies === undefined) return 'no manifest'
  if (lies.length === 0) return 'a true manifest'
  return lies.join() === 'a.js,gone.js' ? 'a manifest of before the rebuild' : 'a false manifest'
}

describe('a compression that is killed at any change to the disk', { timeout: 60_000 }, () => {
  test('leaves no manifest or a true one in a new folder, and the next compression completes it', async () => {
    const whole = await makeFolder(first)
    const { manifest: expected } = await precompress(whole, firstOptions)
    const outcomes = new Set<Outcome>()
    let survived = false
    for (let changes = 0; !survived; changes += 1) {
      const folder = await makeFolder(first)
      survived = await compressAndDieAfter(changes, folder, firstOptions)
      outcomes.add(await outcomeIn(folder))

      const { manifest, warnings } = await precompress(folder, firstOptions)
      expect([manifest.buildId, warnings]).toEqual([expected.buildId, []])
      expect([...(await readFolder(folder)).keys()]).toEqual([...(await readFolder(whole)).keys()])
    }
    expect([...outcomes]).toEqual(['no manifest', 'a true manifest'])
  })

  test('keeps the earlier manifest or writes a true one, and always leaves one', async () => {
    const whole = await makeFolder({ ...second, 'own.csv.gz': 'mine' })
    const { manifest: expected } = await precompress(whole, secondOptions)
    const outcomes = new Set<Outcome>()
    let survived = false
    for (let changes = 0; !survived; changes += 1) {
      const folder = await makeFolder(first)
      await precompress(folder, firstOptions)
      await rebuild(folder)
      survived = await compressAndDieAfter(changes, folder, secondOptions)
      outcomes.add(await outcomeIn(folder))

      const { manifest, warnings } = await precompress(folder, secondOptions)
      expect([manifest.buildId, warnings]).toEqual([expected.buildId, []])
      expect([...(await readFolder(folder)).keys()]).toEqual([...(await readFolder(whole)).keys()])
    }
    expect([...outcomes]).toEqual(['a manifest of before the rebuild', 'a true manifest'])
  })

  test('knows every variant after it was killed twice', async () => {
    const whole = await makeFolder({ ...second, 'own.csv.gz': 'mine' })
    await precompress(whole, secondOptions)
    for (let changes = 0; changes < 48; changes += 1) {
      const folder = await makeFolder(first)
      await compressAndDieAfter(changes, folder, firstOptions)
      await rebuild(folder)
      await compressAndDieAfter(Math.floor(changes / 2), folder, secondOptions)
      await precompress(folder, secondOptions)
      expect([...(await readFolder(folder)).keys()]).toEqual([...(await readFolder(whole)).keys()])
    }
  })
})

describe('a compression in which one change to the disk fails', { timeout: 60_000 }, () => {
  test('leaves the folder in a valid state that the next compression completes', async () => {
    const whole = await makeFolder({ ...second, 'own.csv.gz': 'mine' })
    await precompress(whole, secondOptions)
    const outcomes = new Set<Outcome>()
    for (let changes = 0; changes < 32; changes += 1) {
      const folder = await makeFolder(first)
      await precompress(folder, firstOptions)
      await rebuild(folder)
      await compressAndDieAfter(changes, folder, { ...secondOptions, isOneFailure: true })
      outcomes.add(await outcomeIn(folder))
      await precompress(folder, secondOptions)
      expect([...(await readFolder(folder)).keys()]).toEqual([...(await readFolder(whole)).keys()])
    }
    expect([...outcomes]).toEqual(['a manifest of before the rebuild', 'a true manifest'])
  })
})

describe('two concurrent compressions of one folder', () => {
  test('leave no manifest or a true one without a lock, and never mix up bytes', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const folder = await makeFolder(second)
      const passes = await Promise.allSettled([
        runCompression(folder, firstOptions),
        runCompression(folder, firstOptions),
      ])
      expect(await liesOf(folder).then((lies) => lies ?? [])).toEqual([])
      const failures = passes.flatMap((pass) => (pass.status === 'rejected' ? [String(pass.reason)] : []))
      expect(failures.filter((failure) => !failure.startsWith('OperatorError'))).toEqual([])
    }
  })
})
