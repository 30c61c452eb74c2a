import { expect, test } from 'vitest'
import { isLoopbackHost } from './is-loopback-host.ts'

test.each([
  ['http://localhost:4173/', true],
  ['http://LOCALHOST', true],
  ['http://127.0.0.1', true],
  ['http://127.1', true],
  ['http://[0:0::1]:80', true],
  ['http://app.localhost', false],
  ['http://localhost.example', false],
  ['http://127.0.0.1.example', false],
  ['http://127.site.example', false],
  ['http://128.0.0.1', false],
  ['http://0.0.0.0', false],
])('knows whether %s is this machine', (url, isLoopback) => {
  expect(isLoopbackHost(new URL(url).hostname)).toBe(isLoopback)
})
