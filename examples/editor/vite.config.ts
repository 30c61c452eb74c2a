import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [serveDist()],
  // Monaco's workers are far above the size at which Vite warns.
  build: { chunkSizeWarningLimit: 8000 },
})
