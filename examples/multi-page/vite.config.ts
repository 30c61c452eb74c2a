import { join } from 'node:path'

import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

const pages = [
  'index.html',
  'about.html',
  'guide/index.html',
  'guide/install.html',
  'guide/advanced/index.html',
  '404.html',
]

export default defineConfig({
  appType: 'mpa',
  base: '/docs/',
  plugins: [serveDist()],
  build: {
    // Absolute paths, because Vite 6 and 7 resolve relative ones from the working directory.
    rollupOptions: { input: pages.map((page) => join(import.meta.dirname, page)) },
  },
})
