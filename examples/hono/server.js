import { serve } from '@hono/node-server'
import { loadSite } from '@serve-dist/server'
import { createFetchHandler } from '@serve-dist/server/fetch'
import { Hono } from 'hono'

const answer = createFetchHandler(await loadSite('dist'))
const app = new Hono()
app.use(async (context, next) => (await answer(context.req.raw)) ?? next())
app.get('/api/time', (context) => context.json({ time: Date.now() }))
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4173), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`)
})
