import type { FastifyPluginCallback } from 'fastify'
import { createHandler } from './handler.ts'
import type { HandlerOptions } from './handler-options.ts'
import type { SiteSource } from './site-holder.ts'

/** What the Fastify plugin takes. */
export interface ServeDistFastifyOptions extends HandlerOptions {
  /** What `loadSite` gave. */
  readonly site: SiteSource
}

/**
 * A Fastify 5 plugin: what the site knows is answered before anything else of Fastify's runs; everything
 * else goes on to the routes. It is not encapsulated: the whole instance is answered for.
 */
const serveDistFastify: FastifyPluginCallback<ServeDistFastifyOptions> = (
  fastify,
  { site, ...options },
  done,
) => {
  const handle = createHandler(site, options)
  fastify.addHook('onRequest', (request, reply, next) => {
    let isPassedOn = false
    handle(request.raw, reply.raw, () => {
      isPassedOn = true
      next()
    })
    // What is looked up on the disk is passed on later or never; Fastify waits either way.
    if (!isPassedOn && options.fileSystemFallback !== true) reply.hijack()
  })
  done()
}

// Fastify's own mark for a plugin whose hooks count outside of it.
Object.assign(serveDistFastify, { [Symbol.for('skip-override')]: true })

export default serveDistFastify
