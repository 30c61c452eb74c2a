import { describe, expect, test } from 'vitest'
import { expectedHostAnswers, requestHostExample } from '../src/request-host-example.ts'

/** The command of each example. */
const hosts: readonly (readonly [string, readonly string[]])[] = [
  ['express', ['server.js']],
  ['fastify', ['server.js']],
  ['hono', ['server.js']],
  ['preview', ['node_modules/vite/bin/vite.js', 'preview']],
]

describe.each(hosts)('examples/%s', (name, args) => {
  test('serves its build and an API', async () => {
    expect(await requestHostExample(name, process.execPath, args)).toEqual(expectedHostAnswers)
  })
})
