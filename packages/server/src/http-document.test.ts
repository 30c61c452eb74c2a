import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const text = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8')
/** Rows of the tables whose last column is for tests. */
const rows = text
  .split(/\n{2,}/)
  .filter((block) => /^\|.*\| Test +\|\n/.test(block))
  .flatMap((table) => table.trim().split('\n').slice(2))
const reference = /([\w-]+(?:\.(?:slow-)?test\.ts)?): "([^"]+)"/g

/** What the row names as its tests: file and name, as they stand in the last column. */
function referencesOf(row: string): (readonly [file: string, name: string])[] {
  const last = row.split(' | ').at(-1) ?? ''
  return [...last.matchAll(reference)].map(([, file = '', name = '']) => [
    file.endsWith('test.ts') ? file : `${file}.http-test.ts`,
    name,
  ])
}

/** Names are written over lines where they are long, and with a backslash before an apostrophe. */
function sourceOf(file: string): string {
  const url = new URL(file, import.meta.url)
  return existsSync(url) ? readFileSync(url, 'utf8').replaceAll("\\'", "'") : ''
}

describe('docs/http.md', () => {
  test('has its tables of rows', () => {
    expect(rows.length).toBeGreaterThan(100)
  })

  test.each(rows)('names a test that exists: %s', (row) => {
    const references = referencesOf(row)
    expect(references.length).toBeGreaterThan(0)
    for (const [file, name] of references)
      expect([file, sourceOf(file)]).toEqual([file, expect.stringContaining(name)])
  })
})
