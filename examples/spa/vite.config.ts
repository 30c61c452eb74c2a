import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [
    serveDist({
      // The server reads these values when it starts: one build for every stage.
      env: {
        STAGE: { default: 'development' },
        RELEASE: { default: 'dev' },
        // Without it, the guide shows the species of the build.
        API_URL: {},
        LIMIT: { type: 'number', default: 12 },
      },
      serving: {
        // Pages may fetch only from the API of their own stage.
        csp: { 'connect-src': ["'self'", { env: 'API_URL' }] },
      },
    }),
  ],
  build: {
    rollupOptions: {
      output: {
        // Dependencies change less often than the app, so a separate chunk stays cached.
        manualChunks: (id) => (id.includes('/node_modules/') ? 'vendor' : undefined),
      },
    },
  },
})
