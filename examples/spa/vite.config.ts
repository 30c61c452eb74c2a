import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [
    serveDist({
      // Read by the server when it starts: one build for every stage.
      env: {
        STAGE: { default: 'development' },
        RELEASE: { default: 'dev' },
        // Without it the guide shows the species that it was built with.
        API_URL: {},
        LIMIT: { type: 'number', default: 12 },
      },
      serving: {
        // Pages may fetch from the API of their own stage, and from no other.
        csp: { 'connect-src': ["'self'", { env: 'API_URL' }] },
      },
    }),
  ],
  build: {
    rollupOptions: {
      output: {
        // Dependencies change more seldom than the app: in a chunk of their own they stay cached.
        manualChunks: (id) => (id.includes('/node_modules/') ? 'vendor' : undefined),
      },
    },
  },
})
