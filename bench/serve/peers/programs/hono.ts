import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()
const app = new Hono()
app.use(
  '*',
  serveStatic({
    root: directory,
    precompressed: true,
    onFound: (_path, context) => context.header('Cache-Control', 'public, max-age=31536000, immutable'),
  }),
)
serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
