import { OperatorError } from '@serve-dist/manifest'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadApplication } from './load-application.ts'
import { writeFixture } from '../../test/support/build-fixture.ts'

async function problemOf(source: string): Promise<unknown> {
  const directory = await writeFixture({ 'entry.mjs': source })
  return loadApplication(join(directory, 'entry.mjs')).catch((error: unknown) => error)
}

describe('loadApplication', () => {
  test('says that a module is not there, and what builds it', async () => {
    const loading = loadApplication('no/such/entry.js')
    await expect(loading).rejects.toThrow(OperatorError)
    await expect(loading).rejects.toThrow(/^no\/such\/entry\.js: no such module; build it first/)
  })

  test.each([
    ['nothing', ''],
    ['something else', 'export const render = () => ""; export default { render }'],
  ])('names the exports that there may be where a module exports %s', async (_what, source) => {
    const problem = await problemOf(source)
    expect(problem).toBeInstanceOf(OperatorError)
    expect(String(problem)).toMatch(
      /entry\.mjs: exports no handler; export as default, handler, fetch or app/,
    )
  })

  test.each([
    ['throws', 'throw new Error("no database")', /cannot be loaded: Error: no database/],
    ['is malformed', 'export default (', /cannot be loaded: \w*Error: /],
    ['imports what is not there', 'import "no-such-package"', /cannot be loaded: .*no-such-package/],
  ])('tells why of a module that %s', async (_what, source, expected) => {
    const problem = await problemOf(source)
    expect(problem).toBeInstanceOf(OperatorError)
    expect(String(problem)).toMatch(expected)
  })
})
