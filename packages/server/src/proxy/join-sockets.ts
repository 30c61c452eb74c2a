import type { Duplex } from 'node:stream'
import type { Upgrade } from '../send/upgrade.ts'

/** Answers the handshake of a client and connects it with its target until either closes the connection. */
export function joinSockets({ socket, head }: Upgrade, target: Duplex, fields: readonly string[]): void {
  const lines = fields.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${fields[index + 1]}\r\n`] : [],
  )
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nDate: ${new Date().toUTCString()}\r\n${lines.join('')}\r\n`,
    'latin1',
  )
  if (head.length > 0) target.write(head)
  for (const end of [socket, target]) end.on('error', () => end.destroy())
  socket.once('close', () => target.destroy())
  target.once('close', () => socket.destroySoon())
  socket.pipe(target)
  target.pipe(socket)
}
