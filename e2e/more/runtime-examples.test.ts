import { describe, expect, test } from 'vitest'
import { expectedHostAnswers, requestHostExample } from '../src/request-host-example.ts'
import { findRuntime } from '../src/find-runtime.ts'

const permissions = ['--allow-net', '--allow-read=.', '--allow-env=PORT']

/** The command of each example: the binary in its package. */
const runtimes: readonly (readonly [string, string | undefined, readonly string[]])[] = [
  ['bun', findRuntime('bun'), ['server.js']],
  ['deno', findRuntime('deno'), ['run', ...permissions, 'server.js']],
]

describe.each(runtimes)('examples/%s', (name, program, args) => {
  test.skipIf(program === undefined && process.env['CI'] === undefined)(
    'serves its build and an API',
    async () => {
      expect(await requestHostExample(name, program ?? name, args)).toEqual(expectedHostAnswers)
    },
  )
})
