import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { findNamedImports } from './find-named-imports.ts'

const from = "from 'virtual:serve-dist/env'"

test.each([
  [`import { STAGE, LIMIT as most } ${from}; export { FLAGS } ${from}`, ['STAGE', 'LIMIT', 'FLAGS']],
  [`import env, { 'STAGE' as stage } ${from}`, ['STAGE']],
  [`import env ${from}; import * as all ${from}; import { default as also } ${from}`, []],
  [
    `export { default } ${from}; export { default as env } ${from}; export * ${from}; export * as a ${from}`,
    [],
  ],
  [`import 'virtual:serve-dist/env'; import('virtual:serve-dist/env')`, []],
  ["import { STAGE } from './stage.js'; export { STAGE }; export const a = 1", []],
])('findNamedImports of %s', (code, names) => {
  expect(findNamedImports(parseAst(code))).toEqual(names)
})
