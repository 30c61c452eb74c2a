import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type EncodeTask, type EncodeThread, startEncodeThread } from './start-encode-thread.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { makeFolder } from '../../test/support/make-folder.ts'

async function startProgram(program: string): Promise<EncodeThread> {
  const folder = await makeFolder({ 'program.mjs': program })
  const thread = startEncodeThread(pathToFileURL(join(folder, 'program.mjs')))
  onTestFinished(async () => await thread.end())
  return thread
}

const sha256 = sha256Of('a')
const task: EncodeTask = { folder: '/none', path: 'a.txt', size: 1, sha256, coding: 'gzip' }
const importPort = "import { parentPort } from 'node:worker_threads'\n"

describe('startEncodeThread', () => {
  test('encodes, and rejects with the error of the work', async () => {
    const thread = startEncodeThread()
    onTestFinished(async () => await thread.end())
    const found = { ...task, folder: await makeFolder({ 'a.txt': 'a' }) }
    const result = { encoded: expect.any(Uint8Array), milliseconds: expect.any(Number) }
    expect(await thread.encodeFile(found)).toEqual(result)
    await expect(thread.encodeFile(task)).rejects.toThrow('ENOENT')
    expect(await thread.encodeFile(found)).toEqual(result)
  })

  test('rejects current and later work if the thread exits', async () => {
    const thread = await startProgram(`${importPort}parentPort.on('message', () => process.exit(7))`)
    await expect(thread.encodeFile(task)).rejects.toThrow('ended with code 7')
    await expect(thread.encodeFile(task)).rejects.toThrow('ended with code 7')
  })

  test('rejects if the thread cannot start', async () => {
    const thread = await startProgram('nonsense (')
    await expect(thread.encodeFile(task)).rejects.toThrow(SyntaxError)
  })
})
