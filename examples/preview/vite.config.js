import previewDist from '@serve-dist/server/vite'
import { defineConfig } from 'vite'

const api = {
  name: 'api',
  configurePreviewServer({ middlewares }) {
    middlewares.use('/api/time', (_request, response) => response.end(JSON.stringify({ time: Date.now() })))
  },
}

export default defineConfig({
  // Only the build's own plugin knows which names are hashed: elsewhere a rule says so.
  plugins: [api, previewDist({ rules: { immutable: ['assets/*'] } })],
  preview: { port: Number(process.env.PORT ?? 4173) },
})
