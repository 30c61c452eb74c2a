import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeNew } from '../folder/disk.ts'
import { createFlushQueue } from './create-stager.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

describe('createFlushQueue', () => {
  test('closes every file, and keeps at most 64 open', async () => {
    const folder = await makeFolder()
    const queue = createFlushQueue()
    const descriptors = new Set<number>()
    for (let index = 0; index < 300; index += 1) {
      const descriptor = writeNew(join(folder, String(index)), Buffer.from('x'), () => {})
      descriptors.add(descriptor)
      await queue.add(descriptor)
    }
    await queue.settle()
    // The system assigns the lowest free number, so a small set shows that few files were open.
    expect(descriptors.size).toBeLessThanOrEqual(64)
    for (const descriptor of descriptors) expect(() => fstatSync(descriptor)).toThrow('EBADF')
  })

  test('settles immediately if there is nothing to flush', async () => {
    await expect(createFlushQueue().settle()).resolves.toBeUndefined()
  })

  // Other systems can flush this device.
  test.runIf(process.platform === 'linux')('fails if a file cannot be flushed', async () => {
    const folder = await makeFolder({ file: 'x' })
    const queue = createFlushQueue()
    await queue.add(openSync('/dev/null', 'r'))
    await queue.add(openSync(join(folder, 'file'), 'r'))
    await expect(queue.settle()).rejects.toThrow(/^EINVAL: .*fdatasync/)
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
  })
})
