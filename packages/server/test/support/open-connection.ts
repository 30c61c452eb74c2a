import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parseResponse, type RawResponse } from './parse-response.ts'

/** A socket that sends literal bytes and parses responses strictly. */
export interface Connection {
  readonly socket: Socket
  /** Sends octets. Strings have one character for each octet. */
  send(octets: string | Uint8Array): void
  /** Waits for the next response, which may be an interim one (1xx). */
  receive(method?: string): Promise<RawResponse>
  /** Waits until the server has closed. Returns the unread bytes. */
  rest(): Promise<Buffer>
}

/** Opens a socket to a local port. */
export type Dial = (port: number) => Socket

const dialTcp: Dial = (port) => connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })

/** Opens a connection to a local port. */
export async function openConnection(port: number, dial: Dial = dialTcp): Promise<Connection> {
  const socket = dial(port)
  const changes = new EventEmitter()
  const change = (): Promise<unknown> => once(changes, 'change')
  let store = Buffer.alloc(64 * 1024)
  let length = 0
  let isComplete = false
  socket.on('data', (chunk) => {
    if (length + chunk.length > store.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * store.length, length + chunk.length))
      store.copy(larger, 0, 0, length)
      store = larger
    }
    length += chunk.copy(store, length)
    changes.emit('change')
  })
  const complete = (): void => {
    isComplete = true
    changes.emit('change')
  }
  socket.on('end', complete)
  socket.on('close', complete)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  // From here on, a reset ends the received bytes.
  let reason = ''
  socket.on('error', ({ message }) => {
    reason = ` by ${message}`
    complete()
  })

  return {
    socket,
    send(octets) {
      socket.write(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets)
    },
    async receive(method = 'GET') {
      for (;;) {
        const received = store.subarray(0, length)
        const parsed = parseResponse(received, method, isComplete)
        if (parsed !== undefined) {
          store = Buffer.from(received.subarray(parsed.length))
          length = store.length
          return parsed.response
        }
        if (isComplete)
          throw new Error(`closed after ${JSON.stringify(received.toString('latin1', 0, 2000))}${reason}`)
        await change()
      }
    },
    async rest() {
      for (;;) {
        if (isComplete) break
        await change()
      }
      socket.destroy()
      return store.subarray(0, length)
    },
  }
}
