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
    // Absolute: Vite 6 and 7 would look for the pages in the directory that the build is started from.
    rollupOptions: { input: pages.map((page) => join(import.meta.dirname, page)) },
  },
})
