import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { writeNew } from '../folder/disk.ts'
import { createFlushQueue } from './create-stager.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

describe('createFlushQueue', () => {
  test('closes every file, and keeps few open', async () => {
    const folder = await makeFolder()
    const queue = createFlushQueue()
    const descriptors = new Set<number>()
    for (let index = 0; index < 300; index += 1) {
      const descriptor = writeNew(join(folder, String(index)), Buffer.from('x'), () => {})
      descriptors.add(descriptor)
      await queue.add(descriptor)
    }
    await queue.settle()
    // The system gives the lowest number that is free.
    expect(descriptors.size).toBeLessThanOrEqual(64)
    for (const descriptor of descriptors) expect(() => fstatSync(descriptor)).toThrow('EBADF')
  })

  test('ends at once when there is nothing to flush', async () => {
    await expect(createFlushQueue().settle()).resolves.toBeUndefined()
  })

  // What cannot be flushed there, can elsewhere.
  test.runIf(process.platform === 'linux')('fails with what could not be flushed', async () => {
    const folder = await makeFolder({ file: 'x' })
    const queue = createFlushQueue()
    await queue.add(openSync('/dev/null', 'r'))
    await queue.add(openSync(join(folder, 'file'), 'r'))
    await expect(queue.settle()).rejects.toThrow(/^EINVAL: .*fdatasync/)
    const descriptor = openSync('/dev/null', 'r')
    closeSync(descriptor)
  })
})
