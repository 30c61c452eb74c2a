import { EventEmitter, on } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { stat, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connectionLimits } from '../protocol/connection-limits.ts'
import { changeTimeOf, fingerprintOf } from '../files/open-regular-file.ts'
import { sendFile } from './send-file.ts'
import { chunkSize, type FileContent } from '../files/stored-file.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

async function contentOf(size: number): Promise<FileContent> {
  const file = join(await temporaryDirectory(), 'large.bin')
  await writeFile(file, Buffer.alloc(size))
  const stats = await stat(file, { bigint: true })
  const [fingerprint, changeTime] = [fingerprintOf(stats), changeTimeOf(stats)]
  const stored = { file, size, fingerprint, changeTime, sha256: undefined, body: undefined }
  return { kind: 'file', stored, first: 0, end: size }
}

type Take = (error?: Error) => void

/** A response and its written chunks. Calling the result of `nextWrite` completes a write. */
function responseTo(): { response: ServerResponse; nextWrite: () => Promise<Take> } {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.assignSocket(new Socket())
  const written = new EventEmitter<{ chunk: [Take] }>()
  const chunks = on(written, 'chunk')
  Object.assign(response, {
    write: (_chunk: unknown, take: Take) => written.emit('chunk', take),
    end: () => response,
  })
  return { response, nextWrite }

  async function nextWrite(): Promise<Take> {
    const { value } = await chunks.next()
    if (value === undefined) throw new TypeError('no further write occurred')
    return value[0]
  }
}

describe('sendFile', () => {
  test('disconnects a client that takes no chunk within the time limit, however few bytes remain', async () => {
    const { response, nextWrite } = responseTo()
    const sent = sendFile(response, await contentOf(3 * chunkSize), () => {})
    const outcome = sent.catch((error: unknown) => String(error))
    for (let chunk = 0; chunk < 2; chunk += 1) {
      const take = await nextWrite()
      vi.advanceTimersByTime(connectionLimits.socketTimeout - 1)
      expect(response.destroyed).toBe(false)
      take()
    }
    await nextWrite()
    vi.advanceTimersByTime(connectionLimits.socketTimeout)
    expect(response.destroyed).toBe(true)
    expect(await outcome).toMatch(/the client closed the connection/)
  })

  test('leaves no timer behind', async () => {
    const { response, nextWrite } = responseTo()
    const sent = sendFile(response, await contentOf(10), () => {})
    const take = await nextWrite()
    take()
    await sent
    expect(vi.getTimerCount()).toBe(0)
    expect(response.destroyed).toBe(false)
  })
})
