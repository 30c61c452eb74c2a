import { serve } from 'srvx'
import { staticMiddleware } from 'srvx/static'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()

serve({
  port,
  hostname: '127.0.0.1',
  silent: true,
  middleware: [
    staticMiddleware({
      dir: directory,
      encodings: { zstd: '.zst', br: '.br', gzip: '.gz' },
      maxAge: 31_536_000,
      immutable: true,
    }),
  ],
  fetch: () => new Response('Not Found', { status: 404 }),
})
