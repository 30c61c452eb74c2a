import { describe, expect, test } from 'vitest'
import type { BuildReport } from './build-report.ts'
import { placeTables } from './place-tables.ts'

const sample = { wallSeconds: 2, cpuSeconds: 3, peakBytes: 1e8, writtenBytes: 1e6, variantBytes: {} }
const report: BuildReport = {
  date: '2026-01-02T03:04:05.000Z',
  command: 'pnpm bench:build --trees small --write',
  machine: { processor: 'CPU', cores: 2, memoryBytes: 8 * 2 ** 30, system: 'Linux 6.1', node: '24.0.0' },
  tables: [
    {
      tree: 'small',
      title: 'small files',
      codecSeconds: 4,
      rows: ['vite', 'serve-dist'].map((contender) => ({
        contender,
        version: '1.0.0',
        samples: [sample],
        flushes: undefined,
        void: undefined,
      })),
    },
  ],
}

describe('placeTables', () => {
  const document =
    'before\n<!-- measured: editor -->\nkept\n<!-- end of editor -->\n<!-- measured: small -->\nprevious\n<!-- end of small -->\nafter\n'

  test('replaces what stands between the marks of a tree, and nothing else', () => {
    const placed = placeTables(document, report)
    expect(placed).toMatch(
      /^before\n<!-- measured: editor -->\nkept\n<!-- end of editor -->\n<!-- measured: small -->\n\n### small files\n\n\| contender/,
    )
    expect(placed).toMatch(/\n\n<!-- end of small -->\nafter\n$/)
    expect(placed).not.toContain('previous')
    expect(placeTables(placed, report)).toBe(placed)
  })

  test('names command, day, versions and machine', () => {
    expect(placeTables(document, report)).toContain(
      'Measured on 2026-01-02 with `pnpm bench:build --trees small --write`: Node.js 24.0.0, Linux 6.1, 2 cores of CPU, 8 GiB.',
    )
  })

  test('refuses a document without a place for it', () => {
    expect(() => placeTables('nothing', report)).toThrow('<!-- measured: small -->')
  })
})
