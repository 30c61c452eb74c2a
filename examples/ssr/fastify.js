import { loadSite } from '@serve-dist/server'
import serveDist from '@serve-dist/server/fastify'
import Fastify from 'fastify'
import handle from './dist/server/entry-server.js'

const app = Fastify()
await app.register(serveDist, { site: await loadSite('dist/client') })
app.get('/hello', () => ({ hello: 'from Fastify' }))
app.all('/*', (request, reply) => {
  reply.hijack()
  return handle(request.raw, reply.raw)
})
console.log(await app.listen({ port: Number(process.env.PORT ?? 4173), host: '127.0.0.1' }))
