import { subscribe } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import connect from 'connect'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import { H3, serve as serveH3 } from 'h3'
import { Hono } from 'hono'
import polka from 'polka'
import { serve as serveSrvx } from 'srvx/node'
import { afterAll } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { type BlackBoxHost, type BlackBoxSite, describeBlackBox, passedOn } from '../support/black-box.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { isNative } from '../support/tested-engine.ts'

const closers: (() => unknown)[] = []
afterAll(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

/** The number of requests that a Node server of this process has handled. */
let handled = 0
subscribe('http.server.request.start', () => (handled += 1))

const load = ({ directory, memoryBudget }: BlackBoxSite) => loadSite(directory, { memoryBudget })

/** Answers requests that a fetch host passes on. */
function answerBehind({ method, url }: Request): Response {
  const { pathname, search } = new URL(url)
  return new Response(`${method} ${pathname}${search}`, { status: passedOn })
}

const hosts: readonly BlackBoxHost[] = [
  {
    name: 'serve',
    role: 'standalone',
    ...(isNative && { countHandled: () => handled }),
    async start({ directory, memoryBudget }) {
      const { port } = await startServer(directory, { site: { memoryBudget } })
      return port
    },
  },
  {
    name: 'node:http',
    role: 'middleware',
    async start(site) {
      const handle = createHandler(await load(site))
      return startListener((request, response) => {
        handle(request, response, () => {
          response.writeHead(passedOn).end(`${request.method} ${request.url}`)
        })
      })
    },
  },
  ...[express, express4].map((framework, index): BlackBoxHost => ({
    name: `Express ${5 - index}`,
    role: 'middleware',
    additionalFields: ['x-powered-by'],
    async start(site) {
      const app = framework()
      app.use(createHandler(await load(site)))
      app.use((request, response) => {
        response.writeHead(passedOn).end(`${request.method} ${request.originalUrl}`)
      })
      return startListener(app)
    },
  })),
  {
    name: 'Connect',
    role: 'middleware',
    async start(site) {
      const app = connect()
      app.use(createHandler(await load(site)))
      app.use((request, response) => {
        response.writeHead(passedOn).end(`${request.method} ${request.originalUrl}`)
      })
      return startListener(app)
    },
  },
  {
    name: 'Polka',
    role: 'middleware',
    async start(site) {
      const app = polka({
        onNoMatch: (request, response) => {
          response.writeHead(passedOn).end(`${request.method} ${request.url}`)
        },
      })
      app.use(createHandler(await load(site)))
      return startListener((request, response) => void Reflect.apply(app.handler, app, [request, response]))
    },
  },
  {
    name: 'Fastify',
    role: 'middleware',
    // The router parses the path before any hook runs.
    ownAnswers: ['a malformed path'],
    async start(site) {
      const app = Fastify()
      await app.register(serveDist, { site: await load(site) })
      app.setNotFoundHandler((request, reply) =>
        reply.code(passedOn).send(`${request.method} ${request.url}`),
      )
      await app.listen({ port: 0, host: '127.0.0.1' })
      closers.push(() => app.close())
      return portOf(app.server.address())
    },
  },
  {
    name: 'Hono',
    role: 'middleware',
    async start(site) {
      const answer = createFetchHandler(await load(site))
      const app = new Hono()
      app.use(async (context, next) => (await answer(context.req.raw)) ?? next())
      app.all('*', (context) => answerBehind(context.req.raw))
      const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
      await new Promise((resolve) => server.once('listening', resolve))
      closers.push(() => server.close())
      return portOf(server.address())
    },
  },
  {
    name: 'srvx',
    role: 'middleware',
    async start(site) {
      const answer = createFetchHandler(await load(site))
      const server = serveSrvx({
        fetch: async (request) => (await answer(request)) ?? answerBehind(request),
        port: 0,
        hostname: '127.0.0.1',
        silent: true,
      })
      closers.push(() => server.close(true))
      await server.ready()
      return portOf(server.node?.server?.address())
    },
  },
  {
    name: 'h3',
    role: 'middleware',
    // The host parses the path before any middleware runs.
    ownAnswers: ['a malformed path'],
    async start(site) {
      const answer = createFetchHandler(await load(site))
      const app = new H3()
      app.use(async (event, next) => (await answer(event.req)) ?? next())
      app.all('/**', (event) => answerBehind(event.req))
      const server = serveH3(app, { port: 0, hostname: '127.0.0.1', silent: true })
      closers.push(() => server.close(true))
      await server.ready()
      return portOf(server.node?.server?.address())
    },
  },
]

// The other hosts own their sockets, so the native engine does not serve there.
for (const host of isNative ? hosts.slice(0, 1) : hosts) describeBlackBox(host)

function portOf(address: AddressInfo | string | null | undefined): number {
  if (typeof address !== 'object' || address === null) throw new TypeError('listens on no port')
  return address.port
}
