import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [serveDist()],
  build: {
    rollupOptions: {
      output: {
        // Dependencies change more seldom than the app: in a chunk of their own they stay cached.
        manualChunks: (id) => (id.includes('/node_modules/') ? 'vendor' : undefined),
      },
    },
  },
})
