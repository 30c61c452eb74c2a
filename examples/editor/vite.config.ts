import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [serveDist()],
  // Monaco's workers are far above the size that Vite warns of.
  build: { chunkSizeWarningLimit: 8000 },
})
