import fastifyStatic from '@fastify/static'
import fastify from 'fastify'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()
const app = fastify()
await app.register(fastifyStatic, { root: directory, preCompressed: true, maxAge: '1y', immutable: true })
await app.listen({ port, host: '127.0.0.1' })
