import type { Socket } from 'node:net'

/** Waits for the end of a connection with `allowHalfOpen`, and tells whether it was reset. */
export async function waitForReset(socket: Socket): Promise<boolean> {
  // A reset that comes with data is an end to libuv: what is sent then fails.
  socket.on('end', () => socket.end('x'))
  socket.on('error', () => {
    // The close tells of it.
  })
  return new Promise((resolve) => {
    socket.once('close', resolve)
  })
}
