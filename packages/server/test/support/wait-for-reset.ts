import type { Socket } from 'node:net'

/** Waits for the end of a connection with `allowHalfOpen`. Returns whether it was reset. */
export async function waitForReset(socket: Socket): Promise<boolean> {
  // libuv reports a reset with unread data as an end. A later write fails.
  socket.on('end', () => socket.end('x'))
  socket.on('error', () => {
    // The close event has the error flag.
  })
  return new Promise((resolve) => {
    socket.once('close', resolve)
  })
}
