import { loadSite } from '@serve-dist/server'
import { createFetchHandler } from '@serve-dist/server/fetch'

const answer = createFetchHandler(await loadSite('dist'))
const server = Bun.serve({
  port: process.env.PORT ?? 4173,
  hostname: '127.0.0.1',
  routes: { '/api/time': () => Response.json({ time: Date.now() }) },
  fetch: async (request) => (await answer(request)) ?? new Response('Not Found', { status: 404 }),
})
console.log(`http://127.0.0.1:${server.port}`)
