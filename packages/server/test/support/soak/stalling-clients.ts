import type { Socket } from 'node:net'
import { dialTls } from '../dial-tls.ts'
import { type Dial, openConnection } from '../open-connection.ts'
import { endHeaders, frameTypes, openRawHttp2, uint32 } from '../open-raw-http2.ts'
import { formatRequest } from '../raw-request.ts'

type Open = (port: number) => Promise<Socket>

const largestWindow = 2 ** 31 - 1
const target = '/large.bin'

/** Ways to stall a connection of HTTP/1.1. */
const overHttp1 = (dial?: Dial): Readonly<Record<string, Open>> => ({
  async 'says nothing'(port) {
    const { socket } = await openConnection(port, dial)
    return socket
  },
  async 'has no next request'(port) {
    const connection = await openConnection(port, dial)
    connection.send(formatRequest({}))
    return connection.socket
  },
  async 'sends its head a byte a second'(port) {
    const connection = await openConnection(port, dial)
    connection.send('GET / HTTP/1.1\r\nHost: localhost\r\nX: ')
    return everySecond(connection.socket, () => connection.send('x'))
  },
  async 'sends its body a byte a second'(port) {
    const connection = await openConnection(port, dial)
    connection.send(formatRequest({ method: 'POST', fields: { 'Content-Length': '100000' } }))
    return everySecond(connection.socket, () => connection.send('x'))
  },
  async 'reads nothing'(port) {
    const connection = await openConnection(port, dial)
    connection.socket.pause()
    connection.send(formatRequest({ target }))
    return connection.socket
  },
})

/** Ways to stall a session of HTTP/2. */
const overHttp2: Readonly<Record<string, Open>> = {
  async 'says nothing over HTTP/2'(port) {
    const { socket } = await openRawHttp2(port)
    return socket
  },
  async 'opens no window'(port) {
    const { socket, request, send, frames } = await openRawHttp2(port, [[4, 0]])
    for (let stream = 1; stream < 20; stream += 2) request(stream, { ':path': target })
    return everySecond(socket, () => {
      // The server finally resets the streams. Then this client is silent, too.
      if (frames.some(({ type }) => type === frameTypes.resetStream)) return
      send({ type: frameTypes.ping, payload: Buffer.alloc(8) })
    })
  },
  async 'reads nothing over HTTP/2'(port) {
    const { socket, request, send } = await openRawHttp2(port, [[4, largestWindow]])
    send({ type: frameTypes.windowUpdate, payload: uint32(largestWindow - 65_535) })
    socket.pause()
    for (let stream = 1; stream < 20; stream += 2) request(stream, { ':path': target })
    return socket
  },
  async 'never ends its requests'(port) {
    const { socket, request } = await openRawHttp2(port)
    for (let stream = 1; stream < 20; stream += 2) request(stream, { ':method': 'POST' }, endHeaders)
    return socket
  },
  async 'says GOAWAY and stays'(port) {
    const { socket, request, send } = await openRawHttp2(port, [], true)
    request(1)
    send({ type: frameTypes.goAway, payload: Buffer.alloc(8) })
    return socket
  },
}

/** Clients that stall until the server closes their connection, by scheme. */
export const stallingClients: Readonly<Record<'http' | 'https', Readonly<Record<string, Open>>>> = {
  http: overHttp1(),
  https: { ...overHttp1(dialTls), ...overHttp2 },
}

function everySecond(socket: Socket, act: () => void): Socket {
  const timer = setInterval(() => {
    if (socket.writable) act()
  }, 1000)
  socket.once('close', () => clearInterval(timer))
  return socket
}
