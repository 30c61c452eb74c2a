import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'
import { describe, expect, test } from 'vitest'

/** The rows of docs/http.md by their headings. `pnpm test:unit http-document -u` writes them there. */
const document = fileURLToPath(new URL('../../../../docs/http.md', import.meta.url))
const rows: Readonly<Record<string, readonly Row[]>> = JSON.parse(
  readFileSync(new URL('../../../../docs/http-rows.json', import.meta.url), 'utf8'),
)

interface Row {
  readonly condition: string
  readonly answer: string
  readonly why?: string
  /** Names of tests by their file; `.http-test.ts` is left out. */
  readonly tests: Readonly<Record<string, readonly string[]>>
}

/** The document with its rows; all else stays as it is. */
function withRows(text: string): string {
  return text.replaceAll(
    /(## (.+)\n[^#]*?<!-- rows of http-rows\.json -->\n)[^]*?(?=\n<!-- end of rows -->)/g,
    (_, before: string, title: string) => `${before}\n${(rows[title] ?? []).map(itemOf).join('\n')}\n`,
  )
}

/** One row as an item of a list, whose lines are short. */
function itemOf({ condition, answer, why, tests }: Row): string {
  const names = Object.entries(tests).map(
    ([file, all]) => `${file}: ${all.map((name) => `"${name}"`).join(', ')}`,
  )
  const proof = [...(why === undefined ? [] : [why]), ...names].join(' · ')
  return `${wrap(`- **${condition}** → ${answer}<br>`)}\n${wrap(`  <sub>${proof}</sub>`)}`
}

/** Breaks a text into lines of at most 118 columns, though never before what would begin a list or a heading. */
function wrap(text: string): string {
  const [first = '', ...words] = text.split(/(?<=\S) /)
  let length = first.length
  let wrapped = first
  for (const word of words) {
    const breaks = length + word.length > 117 && !/^(?:[-+*#>|=]|\d+[.)])/.test(word)
    wrapped += breaks ? `\n  ${word}` : ` ${word}`
    length = breaks ? word.length + 2 : length + word.length + 1
  }
  return wrapped
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
  const all = Object.values(rows).flat()

  test('has every row, in lines that a screen holds', async () => {
    const text = withRows(readFileSync(document, 'utf8'))
    await expect(text).toMatchFileSnapshot(document)
    expect(all.length).toBeGreaterThan(100)
    expect(all.filter((row) => !text.includes(itemOf(row)))).toEqual([])
    expect(text.split('\n').filter((line) => line.length > 140)).toEqual([])
  })

  test.each(all)('names a test that exists: $condition', ({ tests }) => {
    const references = Object.entries(tests).flatMap(([file, names]) => names.map((name) => ({ file, name })))
    expect(references.length).toBeGreaterThan(0)
    for (const { file, name } of references) {
      const known = textsOf(file.endsWith('test.ts') ? file : `${file}.http-test.ts`)
      expect([file, name, known.some((text) => text.includes(name))]).toEqual([file, name, true])
    }
  })
})
