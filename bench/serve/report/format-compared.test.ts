import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { formatCompared } from './format-compared.ts'
import type { Report } from './report.ts'

test('docs/compared.md has the figures of docs/benchmarks/peers.json', async () => {
  const documents = new URL('../../../docs/', import.meta.url)
  const report: Report = JSON.parse(await readFile(new URL('benchmarks/peers.json', documents), 'utf8'))
  const page = await readFile(new URL('compared.md', documents), 'utf8')
  expect(page).toContain(formatCompared(report))
})
