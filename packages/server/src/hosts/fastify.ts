import { OperatorError } from '@serve-dist/manifest'
import type { FastifyPluginAsync, FastifyReply, RegisterOptions } from 'fastify'
import { createHandler } from './handler.ts'
import type { HandlerOptions } from './handler-options.ts'
import { type SiteSource, toSiteHolder } from '../site/site-holder.ts'

/** Options of the Fastify plugin. */
export interface ServeDistFastifyOptions extends HandlerOptions {
  /** The result of `loadSite`. */
  readonly site: SiteSource
}

/**
 * A Fastify 5 plugin that answers requests for the site before the routes. All other requests continue to
 * the routes. It is not encapsulated: it handles requests of the whole instance.
 */
const serveDistFastify: FastifyPluginAsync<ServeDistFastifyOptions & RegisterOptions> = async (
  fastify,
  { site, prefix, logLevel: _level, logSerializers: _serializers, ...options },
) => {
  const holder = toSiteHolder(site)
  const { base } = holder.current
  // Thrown in a promise because Fastify does not catch errors that plugins with a callback throw.
  if (prefix !== undefined && !['', '/', base, base.slice(0, -1)].includes(prefix)) {
    throw new OperatorError('SD_OPTION_INVALID', `prefix ${JSON.stringify(prefix)}: ${noPrefix}`)
  }
  const handle = createHandler(site, options)
  const mayPassOnLater = options.fileSystemFallback === true || holder.refreshForMissingAsset !== undefined
  fastify.addHook('onRequest', (request, reply, next) => {
    let isPassedOn = false
    const takeBack = lendFields(reply)
    handle(request.raw, reply.raw, () => {
      isPassedOn = true
      takeBack()
      next()
    })
    // The decision after a lookup elsewhere may pass the request on. Fastify waits in any case.
    if (!isPassedOn && (reply.raw.headersSent || !mayPassOnLater)) reply.hijack()
  })
}

const noPrefix =
  "the plugin serves the whole instance under the build's base. Remove the prefix, or build with it as the base."

/** Copies the fields that earlier hooks set for Fastify's `send`, so that our answers contain them. */
function lendFields(reply: FastifyReply): () => void {
  const names: string[] = []
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value === undefined || reply.raw.hasHeader(name)) continue
    reply.raw.setHeader(name, value)
    names.push(name)
  }
  return () => {
    for (const name of names) reply.raw.removeHeader(name)
  }
}

// This symbol of Fastify makes the hooks of the plugin apply outside of it.
Object.assign(serveDistFastify, { [Symbol.for('skip-override')]: true })

export default serveDistFastify
