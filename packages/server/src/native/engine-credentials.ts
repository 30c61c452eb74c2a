import type { EngineCredentials } from '@serve-dist/engine'
import type { TlsCredentials } from '../transport/tls/tls-credentials.ts'

/** What the engine encrypts connections with. */
export function engineCredentials({ cert, key }: TlsCredentials): EngineCredentials {
  return { certificate: cert, key, protocols: ['h2', 'http/1.1'] }
}
