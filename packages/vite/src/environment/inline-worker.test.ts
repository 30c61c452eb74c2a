import { runInNewContext } from 'node:vm'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { importByExpression } from './inline-worker.ts'

const how = {
  url: '../env.js',
  expression: '"https://a.example/env.js"',
  parse: (code: string) => parseAst(code),
}

/** Returns the text of the worker after the wrapper runs. */
function textIn(wrapper: string): unknown {
  return runInNewContext(`${wrapper}; jsContent`)
}

test.each([
  ['import e from "../env.js";f(e)', 'import e from "https://a.example/env.js";f(e)'],
  ["import'../env.js';import x from'./x.js'", `import"https://a.example/env.js";import x from'./x.js'`],
  ['f(import(`../env.js`), "\\n\u2028`${")', 'f(import("https://a.example/env.js"), "\\n\u2028`${")'],
  ['export{default as e}from"../env.js"', 'export{default as e}from"https://a.example/env.js"'],
])('importByExpression in a worker of %j', (text, expected) => {
  const rewritten = importByExpression(`const jsContent = ${JSON.stringify(text)};`, how)
  expect(textIn(rewritten ?? '')).toBe(expected)
})

test('importByExpression ignores workers that do not import the module', () => {
  for (const text of ['f("../env.js")', 'import "./env.js"'])
    expect(importByExpression(`const jsContent = ${JSON.stringify(text)};`, how)).toBeUndefined()
  expect(importByExpression('export default 1', how)).toBeUndefined()
})
