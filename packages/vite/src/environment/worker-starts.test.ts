import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { findWorkerStarts } from './worker-starts.ts'

const url = "new URL('./w.js', import.meta.url)"

test.each([
  [`new Worker(${url})`, false],
  [`new Worker(${url}, { name: 'w' })`, false],
  [`new Worker(${url}, { type: 'classic' })`, false],
  [`new Worker(${url}, { type: 'module' })`, true],
  [`new Worker(${url}, { 'type': \`module\`, name })`, true],
  [`x(() => { const w = new SharedWorker(${url}, { name: 'a', type: 'module' }) })`, true],
  [`new SharedWorker(${url}, 'name')`, false],
  [`new Worker(${url}, options)`, undefined],
  [`new Worker(${url}, { type })`, undefined],
  [`new Worker(${url}, { type: 'module', ...more })`, undefined],
])('findWorkerStarts finds the worker in %s', (code, isModule) => {
  expect(findWorkerStarts(parseAst(code))).toEqual([
    { url: './w.js', isModule, offset: code.search(/new (?:Shared)?Worker/) },
  ])
})

test.each([
  `// new Worker(${url})`,
  'new Worker("./w.js")',
  'new Worker(new URL("./w.js", location.href))',
  'new Worker(new URL(`./${name}.js`, import.meta.url))',
  `new Image(${url})`,
])('findWorkerStarts finds no worker in %s', (code) => {
  expect(findWorkerStarts(parseAst(code))).toEqual([])
})
