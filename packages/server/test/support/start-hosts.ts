import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { onTestFinished } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { startListener } from './start-listener.ts'

/** Starts a host of a site until the end of the test. Resolves to its port. */
export type StartHost = (site: Parameters<typeof createHandler>[0]) => Promise<number>

/** The hosts besides serve-dist's own server. */
export const hosts: Readonly<Record<'node:http' | 'Express' | 'Fastify' | 'fetch', StartHost>> = {
  'node:http': async (site) => await startListener(createHandler(site)),
  Express: async (site) => await startListener(express().use(createHandler(site))),
  Fastify: async (site) => {
    const app = Fastify()
    onTestFinished(() => app.close())
    await app.register(serveDist, { site })
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  },
  fetch: async (site) => {
    const handle = createFetchHandler(site)
    return await startListener(
      getRequestListener(async (request) => (await handle(request)) ?? new Response(null, { status: 404 })),
    )
  },
}
