import type { HandedEncryption } from '@serve-dist/engine'

/** Returns the properties of a `TLSSocket` for a socket whose connection the engine encrypts. */
export function tlsSocketProperties(encryption: HandedEncryption): PropertyDescriptorMap {
  const { version, cipher, serverName = false, protocol = false, isResumed } = encryption
  return Object.getOwnPropertyDescriptors({
    encrypted: true,
    // The server requests no client certificates.
    authorized: false,
    authorizationError: null,
    alpnProtocol: protocol,
    servername: serverName,
    getProtocol: () => version,
    getCipher: () => ({ name: openSslName(cipher), standardName: cipher, version }),
    getPeerCertificate: () => ({}),
    getPeerX509Certificate: () => undefined,
    getEphemeralKeyInfo: () => null,
    isSessionReused: () => isResumed,
  })
}

/** OpenSSL has different names for the ciphers of TLS 1.2. */
function openSslName(cipher: string): string {
  const match = /^TLS_(ECDHE)_(RSA|ECDSA)_WITH_(.+)$/.exec(cipher)
  if (match === null) return cipher
  const [, exchange, signature, rest = ''] = match
  const name = rest.replace('AES_', 'AES').replace('POLY1305_SHA256', 'POLY1305').replaceAll('_', '-')
  return `${exchange}-${signature}-${name}`
}
