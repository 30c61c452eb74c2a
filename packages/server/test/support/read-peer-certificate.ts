import { once } from 'node:events'
import { connect } from 'node:tls'

/** Returns the certificate of the server on a port, in base64. */
export async function readPeerCertificate(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return raw.toString('base64')
}

/** Returns the base64 of a PEM certificate. */
export function pemToBase64(pem: string): string {
  return pem.replaceAll(/-----.*-----|\s/g, '')
}
