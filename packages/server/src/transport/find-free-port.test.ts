import { createServer } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { findFreePort } from './find-free-port.ts'

test('finds a port that can be listened on, below those of outgoing connections', async () => {
  const port = await findFreePort('127.0.0.1')
  expect(port).toBeLessThan(32_768)
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  server.close()
})

test('rejects for a host without an address of this machine', async () => {
  await expect(findFreePort('192.0.2.1')).rejects.toThrow('EADDRNOTAVAIL')
})
