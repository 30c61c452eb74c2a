import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends literal text, and returns everything that the server sends until it closes. */
export async function rawExchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}
