/** The fields of a client's handshake (RFC 6455 §1.2). */
export const webSocketHandshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version': '13',
} as const
