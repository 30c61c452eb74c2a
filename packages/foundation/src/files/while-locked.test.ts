import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { whileLocked } from './while-locked.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

describe('whileLocked', () => {
  test('runs one at a time, and warns the callers that wait', async () => {
    const folder = await makeFolder()
    const events: string[] = []
    const ends: (() => void)[] = []
    const run = async (name: string): Promise<string> =>
      await whileLocked(folder, { warn: (message) => events.push(`${name}: ${message}`) }, async () => {
        events.push(`${name} begins`)
        await new Promise<void>((resolve) => ends.push(resolve))
        events.push(`${name} ends`)
        return name
      })
    const first = run('a')
    await vi.waitUntil(() => events.length === 1)
    const second = run('b')
    await vi.waitUntil(() => events.length === 2)
    ends[0]?.()
    await vi.waitUntil(() => ends.length === 2)
    ends[1]?.()
    expect(await Promise.all([first, second])).toEqual(['a', 'b'])
    const waits = `b: another compression or carry of ${folder} is running. This one waits until it ends.`
    expect(events).toEqual(['a begins', waits, 'a ends', 'b begins', 'b ends'])
  })

  test('unlocks after an error, and does not wait for other folders', async () => {
    const [folder, other] = [await makeFolder(), await makeFolder()]
    const warn = vi.fn<(message: string) => void>()
    const failure = whileLocked(folder, { warn }, async () => {
      expect(await whileLocked(other, { warn }, async () => 'other')).toBe('other')
      throw new Error('it failed')
    })
    await expect(failure).rejects.toThrow('it failed')
    expect(await whileLocked(folder, { warn }, async () => 'again')).toBe('again')
    expect(warn).not.toHaveBeenCalled()
  })

  test('stops waiting if the signal aborts', async () => {
    const folder = await makeFolder()
    const controller = new AbortController()
    const reason = new Error('the caller aborted')
    const warn = (): void => controller.abort(reason)
    await whileLocked(folder, { warn }, async () => {
      const waiting = whileLocked(folder, { warn, signal: controller.signal }, async () => 'never')
      await expect(waiting).rejects.toBe(reason)
    })
  })
})
