import type { EngineBinding } from '@serve-dist/engine'
import { connectionLimits } from '../protocol/connection-limits.ts'
import { createHostMatcher } from '../transport/allow-hosts.ts'
import { createHttpTransport } from '../transport/create-http-transport.ts'
import { bareHead } from '../transport/track-connections.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'
import { acceptHanded } from './accept-handed.ts'
import { followSite } from './follow-site.ts'
import { createLearner } from './learn-values.ts'
import { listenNatively } from './listen-natively.ts'

/** What an engine needs to know besides. */
export interface NativeOptions {
  readonly binding: EngineBinding
  readonly threads: number
  /** The hosts that are served; the default is all. */
  readonly allowHosts?: readonly string[] | undefined
}

/**
 * HTTP/1.1 over TCP by the engine, which answers by itself what its table has, and relays everything else to a server of
 * Node that does not listen: limits, refusals and the listener are those of `createHttpTransport`.
 */
export function createEngineTransport(
  listener: RequestListener,
  options: TransportOptions,
  { binding, threads, allowHosts }: NativeOptions,
): Transport {
  const { watcher, limits = connectionLimits } = options
  const node = createHttpTransport((request, response) => {
    learner.learn(request)
    connections.returnAfter(response)
    listener(request, response)
  }, options)
  const connections = acceptHanded(node.server, () => engine)
  const engine = new binding.Engine(
    { threads, limits, timeoutAnswer: new TextEncoder().encode(bareHead(408)) },
    {
      handed: connections.handed,
      closed: connections.closed,
      dropped: () => watcher?.noteDrop(),
    },
  )
  const learner = createLearner(engine, allowHosts === undefined ? () => true : createHostMatcher(allowHosts))

  return {
    scheme: 'http',
    server: node.server,
    follower: followSite(learner.setAnswers),
    async listen(address) {
      const origin = await listenNatively(engine, address)
      // Node begins to look at limits.
      node.server.emit('listening')
      return origin
    },
    async drain(gracePeriod) {
      // Those that are handed over later end with the engine's.
      await Promise.all([engine.drain(gracePeriod), node.drain(gracePeriod)])
      await connections.allClosed()
    },
  }
}
