import { WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createProgressLine } from './create-progress-line.ts'

const half = { files: 12, totalFiles: 42, bytes: 5_000_000, totalBytes: 10_000_000 }

function terminal(isTTY: boolean, columns = 80): { stream: NodeJS.WriteStream; written: string[] } {
  const written: string[] = []
  const stream: NodeJS.WriteStream = Object.create(WriteStream.prototype, {
    isTTY: { value: isTTY },
    columns: { value: columns },
    write: { value: (text: string) => written.push(text) },
  })
  return { stream, written }
}

describe('createProgressLine', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('redraws one line and removes it', () => {
    const { stream, written } = terminal(true)
    const line = createProgressLine(stream, 'compressing')
    line.update(half)
    line.clear()
    expect(written).toEqual(['\r\u001B[2Kcompressing 50 % · 12/42 files · 5.0/10.0 MB', '\r\u001B[2K'])
  })

  test('shows small sizes in kB', () => {
    const { stream, written } = terminal(true)
    createProgressLine(stream, 'uploading').update({ ...half, bytes: 40, totalBytes: 12_345 })
    expect(written[0]).toContain(' · 0.0/12.3 kB')
  })

  test('draws at most ten times per second', () => {
    const { stream, written } = terminal(true)
    const line = createProgressLine(stream, 'compressing')
    for (let turn = 0; turn < 50; turn += 1) {
      line.update(half)
      vi.advanceTimersByTime(10)
    }
    expect(written).toHaveLength(5)
  })

  test.each([
    [5_000_000, '2 s left'],
    [2_500_000, '6 s left'],
    [100_000, '3 min 18 s left'],
  ])('shows the remaining time when %i bytes took two seconds', (bytes, left) => {
    const { stream, written } = terminal(true)
    const line = createProgressLine(stream, 'compressing')
    line.update({ ...half, bytes: 0 })
    vi.advanceTimersByTime(500)
    line.update({ ...half, bytes })
    vi.advanceTimersByTime(1500)
    line.update({ ...half, bytes })
    expect(written[0]).not.toContain('left')
    expect(written[1]).not.toContain('left')
    expect(written[2]?.endsWith(` · ${left}`)).toBe(true)
  })

  test('writes nothing to a pipe', () => {
    const { stream, written } = terminal(false)
    const line = createProgressLine(stream, 'compressing')
    line.update(half)
    line.clear()
    expect(written).toEqual([])
  })

  test('writes nothing if the line would wrap', () => {
    const { stream, written } = terminal(true, 20)
    createProgressLine(stream, 'compressing').update(half)
    expect(written).toEqual([])
  })

  test('shows 100 % if there are no bytes', () => {
    const { stream, written } = terminal(true)
    createProgressLine(stream, 'compressing').update({ files: 0, totalFiles: 0, bytes: 0, totalBytes: 0 })
    expect(written[0]).toContain('100 %')
  })
})
