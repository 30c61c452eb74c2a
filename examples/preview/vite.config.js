import previewDist from '@serve-dist/server/vite'
import { defineConfig } from 'vite'

const api = {
  name: 'api',
  configurePreviewServer({ middlewares }) {
    middlewares.use('/api/time', (_request, response) => response.end(JSON.stringify({ time: Date.now() })))
  },
}

export default defineConfig({
  // `serve-dist compress` does not know which names are hashed, because the plugin did not run. This rule names them.
  plugins: [api, previewDist({ rules: { immutable: ['assets/*'] } })],
  preview: { port: Number(process.env.PORT ?? 4173) },
})
