import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { type RunningServer, serve } from '../../src/serve/serve.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { waitForReset } from '../support/wait-for-reset.ts'
import { openConnection } from '../support/open-connection.ts'
import { openListeningSocket } from '../support/open-listening-socket.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import type { StartedServer } from '../support/start-server.ts'
import { testedEngine } from '../support/tested-engine.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
/** Longer than any test may take. A stop that waits for it fails the test. */
const longGracePeriod = 600_000

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'large.bin': large })
})

interface StartOptions {
  readonly gracePeriod?: number
  readonly largestBody?: number
}

async function start({
  gracePeriod = longGracePeriod,
  largestBody = 0,
}: StartOptions = {}): Promise<StartedServer> {
  const server = await serve({ directory, port: 0, gracePeriod, engine: testedEngine, site: { largestBody } })
  const port = Number(new URL(server.url).port)
  // The native engine answers only hosts that Node has seen.
  await rawRequest(port)
  return { ...server, port }
}

/** Returns the results of clients that connect while a server stops. */
async function connectWhileStopping(server: RunningServer, port: number): Promise<string[]> {
  const closed = server.close()
  const outcomes = Array.from({ length: 40 }, async () => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(formatRequest({ fields: { Connection: 'close' } }))
    return await buffer(socket).then(
      (answer) => answer.toString('latin1', 9, 12),
      (error: NodeJS.ErrnoException) => String(error.code),
    )
  })
  await closed
  return (await Promise.all(outcomes)).toSorted()
}

describe('close', () => {
  test('closes idle connections at once', async () => {
    const server = await start()
    const connection = await openConnection(server.port)
    connection.send(formatRequest({}))
    await connection.receive()
    await server.close()
    expect(await connection.rest()).toHaveLength(0)
  })

  test.each([
    ['whole', 'x'.repeat(10)],
    ['in part', 'x'.repeat(5)],
  ])(
    'closes connections at once whose last request body arrived after the response, %s',
    async (_what, body) => {
      const server = await start()
      const connection = await openConnection(server.port)
      connection.send(formatRequest({ method: 'POST', fields: { 'Content-Length': '10' } }))
      expect((await connection.receive()).status).toBe(405)
      connection.send(body)
      // A later response shows that the server has read the earlier bytes.
      const other = await openConnection(server.port)
      other.send(formatRequest({}))
      await other.receive()
      await server.close()
      expect(await connection.rest()).toHaveLength(0)
    },
  )

  test('closes connections without any bytes within a second', async () => {
    const server = await start()
    const connection = await openConnection(server.port)
    const used = await openConnection(server.port)
    used.send(formatRequest({}))
    await used.receive()
    await server.close()
    expect(await connection.rest()).toHaveLength(0)
  })

  test.each([
    ['from memory', Infinity],
    ['streamed', 0],
  ])(
    'lets a response in progress finish, %s, then ends before the grace period does',
    async (_how, largestBody) => {
      const server = await start({ largestBody })
      const socket = connect({ port: server.port, host: '127.0.0.1' })
      socket.write(formatRequest({ target: '/large.bin' }))
      // The client reads nothing before the stop, so the server has sent only what buffers hold.
      await once(socket, 'readable')
      const closed = server.close()
      const received = await buffer(socket)
      expect(received.subarray(-large.length).equals(large)).toBe(true)
      await closed
    },
  )

  test('answers a pipelined request after it with Connection: close', async () => {
    const server = await start()
    const connection = await openConnection(server.port)
    connection.send(formatRequest({ target: '/large.bin' }))
    await once(connection.socket, 'data')
    const closed = server.close()
    connection.send(formatRequest({ target: '/' }))
    const first = await connection.receive()
    expect(first.body.length).toBe(large.length)
    const second = await connection.receive()
    expect([second.status, second.field('Connection')]).toEqual([200, 'close'])
    await closed
  })

  test('answers the first request of a new connection', async () => {
    const server = await start()
    const connection = await openConnection(server.port)
    const idle = await openConnection(server.port)
    idle.send(formatRequest({}))
    await idle.receive()
    const closed = server.close()
    // The idle connection closes when the server has checked for idle ones.
    await idle.rest()
    connection.send(formatRequest({}))
    const response = await connection.receive()
    expect([response.status, response.field('Connection')]).toEqual([200, 'close'])
    await closed
  })

  test('accepts no new connections', async () => {
    const server = await start()
    await server.close()
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
  })

  test.skipIf(process.platform !== 'linux')(
    'refuses simultaneous connections, except for one or two, and resets none',
    async () => {
      const server = await start()
      const outcomes = await connectWhileStopping(server, server.port)
      // The native engine stops listening before the first of them connects.
      expect(new Set([...outcomes, '200'])).toEqual(new Set(['200', 'ECONNREFUSED']))
      expect(outcomes.indexOf('ECONNREFUSED')).toBeLessThanOrEqual(3)
    },
  )

  test('does not change the backlog of a socket on which another process listens', async () => {
    const socket = await openListeningSocket()
    const command = spawnCommand([directory], { inherited: socket.descriptor })
    await command.listening
    command.child.kill('SIGTERM')
    await command.exited
    // No process accepts these connections. A backlog of 0 would never complete them.
    const connections = Array.from({ length: 40 }, async () => {
      const client = connect({ port: socket.port, host: '127.0.0.1' })
      await once(client, 'connect')
      client.destroy()
    })
    await expect(Promise.all(connections)).resolves.toHaveLength(40)
    socket.close()
  })

  test('destroys unfinished responses after the grace period', async () => {
    const server = await start({ gracePeriod: 200 })
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.on('error', () => {
      // The test expects this reset.
    })
    socket.write(formatRequest({ target: '/large.bin' }))
    await once(socket, 'readable')
    await server.close()
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    await once(socket, 'close')
    expect(received).toBeLessThan(large.length)
  })

  test.each(['1.0', '1.1'])(
    'ends a download at the end of the grace period without a reset: HTTP/%s',
    async (version) => {
      const server = await start({ gracePeriod: 200, largestBody: Infinity })
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.write(formatRequest({ target: '/large.bin', version: `HTTP/${version}` }))
      await once(socket, 'readable')
      await server.close()
      let received = 0
      socket.on('data', (chunk) => (received += chunk.length))
      expect(await waitForReset(socket)).toBe(false)
      expect(received).toBeGreaterThan(100_000)
      expect(received).toBeLessThan(large.length)
    },
  )

  test('limits a grace period to the longest possible timer', async () => {
    const server = await start({ gracePeriod: Infinity })
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.write(formatRequest({ target: '/large.bin' }))
    await once(socket, 'readable')
    const closed = server.close()
    const received = await buffer(socket)
    expect(received.subarray(-large.length).equals(large)).toBe(true)
    await closed
  })

  test('may be called again, and all calls end together', async () => {
    const server = await start()
    await Promise.all([server.close(), server.close()])
    await expect(server.close()).resolves.toBeUndefined()
  })
})
