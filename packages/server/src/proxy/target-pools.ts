import { isIP } from 'node:net'
import { loadOptional } from '@serve-dist/manifest'
import type { buildConnector, Client, Dispatcher, Pool } from 'undici'
import type { ProxyTarget } from '../site/site.ts'

/** Milliseconds for the connection to a target, with the look-up of its name and the TLS handshake. */
const connectTimeout = 5000
/** The maximum size of the head of a target's answer in bytes. */
const maximumHead = 64 * 1024

/** A connection to a target. */
export interface TargetConnection {
  /** The number of requests that were sent on it. */
  requests: number
}

/** Receives the answer of a target, and the connection that the request will be sent on. */
export interface TargetHandler extends Dispatcher.DispatchHandler {
  connection: TargetConnection | undefined
}

type TargetRequest = Omit<Dispatcher.DispatchOptions, 'origin'>

/** The connections to all targets. */
export interface TargetPools {
  /** Sends a request on a free or a new connection. */
  readonly dispatch: (target: ProxyTarget, request: TargetRequest, handler: TargetHandler) => void
  /** Sends a request on a new connection. */
  readonly dispatchAnew: (target: ProxyTarget, request: TargetRequest, handler: TargetHandler) => void
  /** Closes all connections immediately. */
  readonly close: () => Promise<void>
}

/** @throws OperatorError without `undici`. */
export async function createTargetPools(): Promise<TargetPools> {
  const undici = await loadOptional(
    { name: 'undici', neededBy: 'a rule that proxies' },
    async () => await import('undici'),
  )
  const pools = new Map<string, { readonly pool: Pool; readonly openClient: () => Client }>()

  function poolOf({ origin, socketPath }: ProxyTarget) {
    const key = `${origin} ${socketPath ?? ''}`
    const known = pools.get(key)
    if (known !== undefined) return known
    const connect = connectorOf(undici.buildConnector, origin, socketPath)
    const openClient = (): Client => {
      const client = new undici.Client(origin, {
        connect,
        maxHeaderSize: maximumHead,
        pipelining: 1,
        // `forward.ts` limits the silence in a body.
        bodyTimeout: 0,
      })
      const connection: TargetConnection = { requests: 0 }
      client.on('connect', () => {
        connection.requests = 0
      })
      const dispatch = client.dispatch.bind(client)
      client.dispatch = (request, handler) => {
        if ('connection' in handler) handler.connection = connection
        return dispatch(request, handler)
      }
      return client
    }
    const made = { pool: new undici.Pool(origin, { connect, factory: openClient }), openClient }
    pools.set(key, made)
    return made
  }

  return {
    dispatch: (target, request, handler) => void poolOf(target).pool.dispatch(request, handler),
    dispatchAnew(target, request, handler) {
      const client = poolOf(target).openClient()
      client.dispatch(request, handler)
      // Waits for the answer.
      void client.close()
    },
    async close() {
      await Promise.all(Array.from(pools.values(), async ({ pool }) => await pool.destroy()))
    },
  }
}

/** Verifies certificates for the name of the target, even if requests have another `Host`. */
function connectorOf(
  build: typeof buildConnector,
  origin: string,
  socketPath: string | undefined,
): buildConnector.connector {
  const { hostname } = new URL(origin)
  const servername = isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : ''
  const connect = build({ timeout: connectTimeout, allowH2: false, ...(socketPath && { socketPath }) })
  return (options, callback) => connect({ ...options, servername }, callback)
}
