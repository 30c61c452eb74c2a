import { answerLikeMiddleware } from './answer-like-middleware.mjs'

Deno.serve(
  {
    port: 0,
    hostname: '127.0.0.1',
    // Deno would compress uncompressed responses and weaken their validators.
    automaticCompression: false,
    onListen: ({ port }) => console.log(port),
  },
  answerLikeMiddleware,
)
