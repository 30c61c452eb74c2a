import type { EngineBinding } from '@serve-dist/engine'
import { tmpdir } from 'node:os'
import { StoredFileError } from '../files/stored-file.ts'
import { connectionLimits } from '../protocol/connection-limits.ts'
import {
  controlFrameLimit,
  maximumFields,
  resetLimit,
  maximumConcurrentStreams,
} from '../protocol/http2-limits.ts'
import { createHostMatcher } from '../transport/allow-hosts.ts'
import { createHttpTransport } from '../transport/create-http-transport.ts'
import { formatRefusalHead } from '../transport/track-connections.ts'
import type { TlsTransport } from '../transport/tls/create-tls-transport.ts'
import type { TlsCredentials } from '../transport/tls/tls-credentials.ts'
import type { RequestListener, TransportOptions } from '../transport/transport.ts'
import { adoptRelayedSockets } from './adopt-relayed-sockets.ts'
import type { serveRelayedHttp2 } from './serve-relayed-http2.ts'
import { readEngineAnswers } from './engine-answers.ts'
import { engineCredentials } from './choose-engine.ts'
import { followSite } from './follow-site.ts'
import { createHeaderValueCache } from './header-value-cache.ts'
import { listenNatively } from './listen-natively.ts'

/** Options of the native engine. */
export interface NativeOptions {
  readonly binding: Pick<EngineBinding, 'Engine'>
  readonly threads: number
  /** The hosts to serve; the default is all hosts. */
  readonly allowHosts?: readonly string[] | undefined
  /** The TLS credentials and the HTTP/2 server for relayed streams; absent for plain HTTP. */
  readonly encryption?: {
    readonly credentials: TlsCredentials
    readonly serveRelayedHttp2: typeof serveRelayedHttp2
  }
  /** Called when a file has changed during an answer. */
  readonly onProblem?: (problem: Error) => void
}

/**
 * Creates a transport of the native engine: HTTP/1.1 over TCP, or HTTP/1.1 and HTTP/2 over TLS. The engine
 * answers requests from its table. It relays all others to Node servers that do not listen and that have
 * the limits, refusals and listener of `createHttpTransport` and `createTlsTransport`.
 */
export function createEngineTransport(
  listener: RequestListener,
  options: TransportOptions,
  { binding, threads, allowHosts, encryption, onProblem }: NativeOptions,
): TlsTransport {
  const { watcher, limits = connectionLimits } = options
  const observer = watcher?.engine
  const node = createHttpTransport((request, response) => {
    headerValues.learn(request)
    connections.returnAfter(response)
    listener(request, response)
  }, options)
  const sessions = encryption?.serveRelayedHttp2((request, response) => {
    headerValues.learn(request)
    listener(request, response)
  }, options)
  const connections = adoptRelayedSockets(node.server, sessions, () => engine)
  const engine = new binding.Engine(
    {
      threads,
      limits,
      http2Limits: {
        streams: maximumConcurrentStreams,
        fields: maximumFields,
        resets: resetLimit,
        controlFrames: controlFrameLimit,
      },
      timeoutAnswer: new TextEncoder().encode(formatRefusalHead(408)),
      bodyFolders: [tmpdir(), '/var/tmp'],
      ...(observer && { observe: { durationBuckets: observer.durationBuckets, log: observer.isLogged } }),
    },
    {
      handed: connections.handed,
      closed: connections.closed,
      refused: (refusal) => observer?.noteRefusal(refusal),
      changed: (file) => onProblem?.(new StoredFileError({ file }, 'changed')),
    },
  )
  const headerValues = createHeaderValueCache(
    engine,
    allowHosts === undefined ? () => true : createHostMatcher(allowHosts),
  )
  const setCredentials = (next: TlsCredentials): void => engine.setCredentials(engineCredentials(next))
  const follower = followSite(headerValues.setAnswers, observer?.classOf)
  observer?.follow(readEngineAnswers(engine))
  if (encryption !== undefined) setCredentials(encryption.credentials)
  const scheme = encryption === undefined ? 'http' : 'https'

  return {
    scheme,
    server: node.server,
    follower: {
      ...follower,
      swap(site) {
        observer?.noteSwap()
        follower.swap(site)
      },
    },
    setCredentials,
    noteAccepted: headerValues.learnAuthorization,
    takeUploadsAndUpgrades() {
      node.takeUploadsAndUpgrades()
      sessions?.takeUploads()
    },
    async listen(address) {
      const origin = await listenNatively({ engine, scheme }, address)
      // Makes Node enforce its limits.
      node.server.emit('listening')
      return origin
    },
    async drain(gracePeriod) {
      // Sessions that are relayed later end with the engine, which resets streams after the grace period.
      sessions?.close()
      await Promise.all([engine.drain(gracePeriod), node.drain(gracePeriod)])
      await connections.allClosed()
      sessions?.stop()
    },
  }
}
