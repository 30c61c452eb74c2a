// https://bun.com/docs/runtime/http/routing: static responses in memory, with one coding for all clients.
import { readConstantAnswers } from './constant-answers.ts'
import { readPeerInput } from './peer-input.ts'

declare const Bun: {
  serve(options: { hostname: string; port: number; routes: Record<string, Response> }): unknown
}

const { directory, port, accept } = readPeerInput()
const answers = await readConstantAnswers(directory, accept)
const routes = Array.from(answers, ([path, { ok, body }]) => {
  return [path, new Response(body, { headers: ok })] as const
})

Bun.serve({ hostname: '127.0.0.1', port, routes: Object.fromEntries(routes) })
