import { connect } from 'node:tls'
import type { Dial } from './open-connection.ts'

/** Opens TLS without ALPN, which selects HTTP/1.1. */
export const dialTls: Dial = (port) => {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.allowHalfOpen = true
  return socket
}
