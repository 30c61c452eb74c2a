// Deno.serve from memory, one coding for everybody.
import { readConstantAnswers } from './constant-answers.ts'
import { readPeerInput } from './peer-input.ts'

declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handle: (request: Request) => Response,
  ): unknown
}

const { directory, port, accept } = readPeerInput()
const answers = await readConstantAnswers(directory, accept)

Deno.serve({ hostname: '127.0.0.1', port, onListen: () => {} }, (request) => {
  const answer = answers.get(new URL(request.url).pathname)
  if (answer === undefined) return new Response('Not Found', { status: 404 })
  if (request.headers.has('if-none-match') || request.headers.has('if-modified-since')) {
    return new Response(null, { status: 304, headers: answer.notModified })
  }
  return new Response(request.method === 'HEAD' ? null : answer.body, { headers: answer.ok })
})
