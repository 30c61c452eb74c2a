import { expect, test } from 'vitest'
import { engineObstacles } from './engine-obstacles.ts'
import { resolveServeOptions } from './serve-options.ts'

test.each([
  ['127.0.0.1', []],
  ['fe80::1%eth0', ['not with a zone in --host']],
])('engineObstacles of the host %s are %j', async (host, expected) => {
  const options = resolveServeOptions({ directory: 'dist', engine: 'native', host })
  expect(await engineObstacles(options, false)).toEqual(expected)
})
