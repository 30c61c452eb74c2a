import { loadSite } from '@serve-dist/server'
import { createFetchHandler } from '@serve-dist/server/fetch'

const answer = createFetchHandler(await loadSite('dist'))

async function handle(request) {
  if (new URL(request.url).pathname === '/api/time') return Response.json({ time: Date.now() })
  return (await answer(request)) ?? new Response('Not Found', { status: 404 })
}

Deno.serve(
  {
    port: Number(Deno.env.get('PORT') ?? 4173),
    hostname: '127.0.0.1',
    // The build has already compressed its files.
    automaticCompression: false,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  },
  handle,
)
