import { loadSite } from '@serve-dist/server'
import serveDist from '@serve-dist/server/fastify'
import Fastify from 'fastify'
import handle, { upgrade } from './dist/server/entry-server.js'

const app = Fastify()
await app.register(serveDist, { site: await loadSite('dist/client') })
app.get('/hello', () => ({ hello: 'from Fastify' }))
// The handler reads bodies, not Fastify.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', (_request, _body, done) => done(null))
app.all('/*', (request, reply) => {
  reply.hijack()
  return handle(request.raw, reply.raw)
})
app.server.on('upgrade', upgrade)
console.log(await app.listen({ port: Number(process.env.PORT ?? 4173), host: '127.0.0.1' }))
