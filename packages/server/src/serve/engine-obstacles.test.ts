import { expect, test } from 'vitest'
import { engineObstacles } from './engine-obstacles.ts'

test.each([
  ['127.0.0.1', []],
  ['fe80::1%eth0', ['not with a zone in --host']],
])('engineObstacles of the host %s are %j', async (host, expected) => {
  const options = { engine: 'native', host, ssr: undefined, tls: undefined } as const
  expect(await engineObstacles(options, false)).toEqual(expected)
})
