import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'
import { describe, expect, test } from 'vitest'

const text = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8')
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

/** Every text of a test file that its code holds: none of its comments, nor of tests that do not run. */
function textsOf(file: string): readonly string[] {
  const known = texts.get(file)
  if (known !== undefined) return known
  const path = testFiles.get(file)
  const found = path === undefined ? [] : textsIn(parseAst(readFileSync(path, 'utf8'), { lang: 'ts' }))
  texts.set(file, found)
  return found
}
const texts = new Map<string, readonly string[]>()
const server = fileURLToPath(new URL('../..', import.meta.url))
/** Path by name of each test of the server, wherever it lies. */
const testFiles = new Map(
  ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(server, folder), { encoding: 'utf8', recursive: true }).map((path) =>
        join(server, folder, path),
      ),
    )
    .map((path) => [basename(path), path]),
)

/** The texts of a syntax tree; `test.skip(…)`, `test.todo(…)` and what `describe.skip(…)` holds are passed over. */
function textsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn)
  if (typeof node !== 'object' || node === null) return []
  const { type, value, callee, quasis, ...children }: SyntaxNode = node
  if (type === 'CallExpression' && doesNotRun(callee)) return []
  if (type === 'Literal') return typeof value === 'string' ? [value] : []
  const template = (quasis ?? []).map((quasi) => quasi.value.cooked).join('${}')
  return [template, ...textsIn(value), ...textsIn(callee), ...Object.values(children).flatMap(textsIn)]
}

/** What the tree's nodes may have, of what is looked at here. */
interface SyntaxNode {
  readonly type?: string
  readonly value?: unknown
  readonly callee?: SyntaxNode
  readonly object?: SyntaxNode
  readonly property?: { readonly name?: string }
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[]
}

function doesNotRun(callee: SyntaxNode | undefined): boolean {
  if (callee === undefined) return false
  const { property, object } = callee
  return (
    property?.name === 'skip' || property?.name === 'todo' || doesNotRun(object) || doesNotRun(callee.callee)
  )
}

describe('textsIn', () => {
  test.each([
    ["test('a', () => {})", true],
    ["test.each([['a']])('%s', () => {})", true],
    ["const rows = ['a']", true],
    ["describe.skipIf(isWindows)('b', () => { test('a') })", true],
    ["// test('a', () => {})", false],
    ["/* 'a' */", false],
    ["test.skip('a', () => {})", false],
    ["test.todo('a')", false],
    ["test.skip.each([['a']])('%s', () => {})", false],
    ["describe.skip('b', () => { test('a') })", false],
  ])('%s: %s', (source, isFound) => {
    expect(textsIn(parseAst(source, { lang: 'ts' })).includes('a')).toBe(isFound)
  })
})

describe('docs/http.md', () => {
  test('has its tables of rows', () => {
    expect(rows.length).toBeGreaterThan(100)
  })

  test.each(rows)('names a test that exists: %s', (row) => {
    const references = referencesOf(row)
    expect(references.length).toBeGreaterThan(0)
    for (const [file, name] of references) {
      expect([file, name, textsOf(file).some((known) => known.includes(name))]).toEqual([file, name, true])
    }
  })
})
