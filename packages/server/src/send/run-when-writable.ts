import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Leave = () => void

/** Callbacks by connection, because a listener per response would be hundreds on one socket. */
const waiting = new WeakMap<Socket, Set<Leave>>()

/**
 * Runs an action when a response is writable. A pipelined response has no socket before its turn, and Node
 * does not notify it if the client disconnects.
 *
 * @param leave - called instead if the client disconnects earlier.
 */
export function runWhenWritable(response: ServerResponse, act: () => void, leave: Leave = () => {}): void {
  const { socket } = response.req
  if (response.socket !== null) act()
  else if (socket.destroyed) leave()
  else {
    const leavers = leaversOf(socket)
    leavers.add(leave)
    response.once('socket', () => {
      leavers.delete(leave)
      act()
    })
  }
}

function leaversOf(socket: Socket): Set<Leave> {
  const known = waiting.get(socket)
  if (known !== undefined) return known
  const leavers = new Set<Leave>()
  waiting.set(socket, leavers)
  socket.once('close', () => {
    for (const leave of leavers) leave()
  })
  return leavers
}
