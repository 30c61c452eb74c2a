import { manifestPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { type FinishedPass, formatPass } from './format-build.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const report: FinishedPass = {
  directory: '/project/dist',
  manifest: makeManifest([{ path: 'assets/app.js', size: 12_300, variants: { br: 3000 } }]),
  written: [],
  removed: [],
  cacheHits: 0,
  durationMs: 1234,
}

function lastLine(more: Partial<FinishedPass>): string | undefined {
  return formatPass({ ...report, ...more }, { colors: false })
    .split('\n')
    .at(-1)
}

describe('formatPass', () => {
  test('has the folder before each path and a last line about the compression step', () => {
    const text = formatPass(report, { colors: false })
    expect(text).toMatch(/^dist\/assets\/app\.js +12\.30 kB +3\.00 kB/m)
    expect(lastLine({})).toBe('✓ 1 file, 1 variant (nothing changed) in 1.23s')
  })

  test('counts variants from the cache and removed files', () => {
    const changes = { written: ['a', 'b'], removed: ['c'], cacheHits: 1200, durationMs: 80.4 }
    expect(lastLine(changes)).toBe('✓ 1 file, 1 variant (1,200 from the cache), 1 removed in 80ms')
  })

  test('has one count if no variant is from the cache', () => {
    expect(lastLine({ written: ['a.js.br', manifestPath] })).toBe('✓ 1 file, 1 variant in 1.23s')
  })

  test('shows additions to the policy with their reasons', () => {
    const worker = ["'self'", 'blob:'].map((source) => ({ directive: 'worker-src', source, reason: 'b.js' }))
    const wasm = ['a.wasm', 'b.wasm'].map((reason) => ({
      directive: 'script-src',
      source: "'wasm-unsafe-eval'",
      reason,
    }))
    const text = formatPass({ ...report, policyNeeds: [...worker, ...wasm] }, { colors: false })
    expect(text.split('\n').filter((line) => line.startsWith('csp'))).toEqual([
      "csp adds worker-src 'self' blob: (b.js)",
      "csp adds script-src 'wasm-unsafe-eval' (a.wasm, b.wasm)",
    ])
  })

  test('contains no escapes without colours', () => {
    // oxlint-disable-next-line no-control-regex -- the test looks for escapes
    expect(formatPass(report, { colors: false })).not.toMatch(/\u001B/)
    // oxlint-disable-next-line no-control-regex -- as above
    expect(formatPass(report, { colors: true })).toMatch(/\u001B\[32m✓/)
  })
})
