import { answerLikeMiddleware } from './answer-like-middleware.mjs'

Deno.serve(
  {
    port: 0,
    hostname: '127.0.0.1',
    // Deno would compress what the build has decided to send as it is, and weaken its validators.
    automaticCompression: false,
    onListen: ({ port }) => console.log(port),
  },
  answerLikeMiddleware,
)
