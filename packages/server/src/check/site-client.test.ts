import { EventEmitter, once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSiteClient, type SiteClient } from './site-client.ts'

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'

/** Returns a client of a site whose `answer` writes each response. */
async function clientOf(answer: (socket: Socket) => void, scheme = 'http'): Promise<SiteClient> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('listening without a port')
  const origin = new URL(`${scheme}://127.0.0.1:${address.port}`)
  const client = createSiteClient({
    origin,
    fields: {},
    address: undefined,
    insecure: false,
    concurrency: 1,
    signal: new AbortController().signal,
  })
  onTestFinished(() => {
    client.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return client
}

function chunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

describe('createSiteClient', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each(['', 'Content-Encoding: gzip\r\n'])('rejects an endless body (%j)', async (field) => {
    const piece = chunk(Buffer.alloc(65_536))
    const client = await clientOf((socket) => {
      const pour = (): void => {
        let isTaken = true
        while (isTaken && !socket.destroyed) isTaken = socket.write(piece)
      }
      socket.on('drain', pour).write(`${head}${field}\r\n`)
      pour()
    })
    await expect(client.ask({ path: '/', size: 10 })).rejects.toThrow('more than 16.8 MB')
  })

  test('rejects a body that decodes to a thousand times its size', async () => {
    const bomb = gzipSync(Buffer.alloc(2 ** 25))
    const client = await clientOf((socket) => {
      socket.write(`${head}Content-Encoding: gzip\r\n\r\n`)
      socket.write(Buffer.concat([chunk(bomb), Buffer.from('0\r\n\r\n')]))
    })
    await expect(client.ask({ path: '/', size: 10 })).rejects.toThrow('more than 16.8 MB')
  })

  test('rejects a response that is too slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const drops = new EventEmitter()
    const begun = once(drops, 'first')
    const client = await clientOf((socket) => {
      socket.write(`${head}\r\n1\r\nx\r\n`, () => drops.emit('first'))
    })
    const failure = client.ask({ path: '/', size: 100_000 }).catch((error: unknown) => error)
    await begun
    await vi.advanceTimersByTimeAsync(41_000)
    expect(await failure).toEqual(new Error('no complete response within 40 s'))
  })

  test('rejects a TLS handshake that is too slow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const drops = new EventEmitter()
    const begun = once(drops, 'first')
    const drips = setInterval(() => sent?.write('\u0000'), 20)
    onTestFinished(() => clearInterval(drips))
    let sent: Socket | undefined
    const client = await clientOf((socket) => {
      // The head of a TLS record of 16 kB.
      socket.write(Buffer.from([22, 3, 3, 64, 0]), () => drops.emit('first'))
      sent = socket
    }, 'https')
    const failure = client.negotiatedProtocol().catch((error: unknown) => error)
    await begun
    await vi.advanceTimersByTimeAsync(31_000)
    expect(await failure).toEqual(new Error('no TLS within 30 s'))
  })

  test('rejects an unexpected upgrade', async () => {
    const client = await clientOf((socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    await expect(client.ask({ path: '/' })).rejects.toThrow('answers 101')
  })
})
