import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type EncodeTask, type EncodeThread, startEncodeThread } from './start-encode-thread.ts'
import { makeFolder } from '../../test/support/make-folder.ts'

async function startProgram(program: string): Promise<EncodeThread> {
  const folder = await makeFolder({ 'program.mjs': program })
  const thread = startEncodeThread(pathToFileURL(join(folder, 'program.mjs')))
  onTestFinished(async () => await thread.end())
  return thread
}

const task: EncodeTask = { bytes: Buffer.alloc(1000, 'a'), coding: 'gzip' }
const importPort = "import { parentPort } from 'node:worker_threads'\n"

describe('startEncodeThread', () => {
  test('encodes, and tells what the codec threw', async () => {
    const thread = startEncodeThread()
    onTestFinished(async () => await thread.end())
    // What no type lets through.
    const unknown: EncodeTask = JSON.parse('{"coding":"deflate"}')
    const result = { encoded: expect.any(Uint8Array), milliseconds: expect.any(Number) }
    expect(await thread.encodeTimed(task)).toEqual(result)
    await expect(thread.encodeTimed(unknown)).rejects.toThrow(TypeError)
    expect(await thread.encodeTimed(task)).toEqual(result)
  })

  test('fails when the thread ends under the work, then and later', async () => {
    const thread = await startProgram(`${importPort}parentPort.on('message', () => process.exit(7))`)
    await expect(thread.encodeTimed(task)).rejects.toThrow('ended with code 7')
    await expect(thread.encodeTimed(task)).rejects.toThrow('ended with code 7')
  })

  test('fails when the thread cannot start', async () => {
    const thread = await startProgram('nonsense (')
    await expect(thread.encodeTimed(task)).rejects.toThrow(SyntaxError)
  })
})
