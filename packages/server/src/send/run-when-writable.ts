import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Leave = () => void

/** Those who wait, by connection: a listener of each one's own would be hundreds on one socket. */
const waiting = new WeakMap<Socket, Set<Leave>>()

/**
 * Acts when a response may be written: a pipelined one has no socket before its turn comes, and Node does not tell it
 * when the client goes away.
 *
 * @param leave - called instead when the client goes away before.
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
