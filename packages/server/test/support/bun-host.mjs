import { answerLikeMiddleware } from './answer-like-middleware.mjs'

const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answerLikeMiddleware })
console.log(port)
