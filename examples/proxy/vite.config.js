import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [
    serveDist({
      // `vite`, `vite preview` and `serve-dist` follow this rule.
      serving: { redirects: [{ from: '/api/*', to: { env: 'API' }, status: 200, force: true }] },
    }),
  ],
})
