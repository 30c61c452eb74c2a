import { loadSite } from '@serve-dist/server'
import serveDist from '@serve-dist/server/fastify'
import Fastify from 'fastify'

const app = Fastify()
await app.register(serveDist, { site: await loadSite('dist') })
app.get('/api/time', () => ({ time: Date.now() }))
console.log(await app.listen({ port: Number(process.env.PORT ?? 4173), host: '127.0.0.1' }))
