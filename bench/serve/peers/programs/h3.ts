import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { H3, serve, serveStatic } from 'h3'
import { readPeerInput } from './peer-input.ts'

const { directory, port } = readPeerInput()
const encodings = { zstd: '.zst', br: '.br', gzip: '.gz' }
const app = new H3()

app.use('/**', (event) =>
  serveStatic(event, {
    indexNames: ['/index.html'],
    encodings,
    headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
    getContents: (id) => readFile(join(directory, id)),
    getMeta: async (id) => {
      const stats = await stat(join(directory, id)).catch(() => undefined)
      if (!stats?.isFile()) return undefined
      const encoding = Object.entries(encodings).find(([, extension]) => id.endsWith(extension))?.[0]
      return { size: stats.size, mtime: stats.mtimeMs, ...(encoding !== undefined && { encoding }) }
    },
  }),
)

serve(app, { port, hostname: '127.0.0.1', silent: true })
