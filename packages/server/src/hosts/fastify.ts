import { OperatorError } from '@serve-dist/manifest'
import type { FastifyPluginAsync, FastifyReply, RegisterOptions } from 'fastify'
import { createHandler } from './handler.ts'
import type { HandlerOptions } from './handler-options.ts'
import { type SiteSource, toSiteHolder } from '../site/site-holder.ts'

/** What the Fastify plugin takes. */
export interface ServeDistFastifyOptions extends HandlerOptions {
  /** What `loadSite` gave. */
  readonly site: SiteSource
}

/**
 * A Fastify 5 plugin: what the site knows is answered before anything else of Fastify's runs; everything
 * else goes on to the routes. It is not encapsulated: the whole instance is answered for.
 */
const serveDistFastify: FastifyPluginAsync<ServeDistFastifyOptions & RegisterOptions> = async (
  fastify,
  { site, prefix, logLevel: _level, logSerializers: _serializers, ...options },
) => {
  const holder = toSiteHolder(site)
  const { base } = holder.current
  // Thrown in a promise: what a plugin with a callback throws, Fastify does not catch.
  if (prefix !== undefined && !['', '/', base, base.slice(0, -1)].includes(prefix)) {
    throw new OperatorError('SD_OPTION_INVALID', `prefix: ${noPrefix}, found ${JSON.stringify(prefix)}`)
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
    // A look elsewhere passes a request on later or never; Fastify waits either way.
    if (!isPassedOn && (reply.raw.headersSent || !mayPassOnLater)) reply.hijack()
  })
}

const noPrefix =
  "the plugin answers for the whole instance, under the build's own base; leave it out, or build with that base"

/** What hooks before us have set waits for Fastify's own `send`; it goes with our answers too. */
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

// Fastify's own mark for a plugin whose hooks count outside of it.
Object.assign(serveDistFastify, { [Symbol.for('skip-override')]: true })

export default serveDistFastify
