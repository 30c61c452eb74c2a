import node from '@astrojs/node'
import serveDist from '@serve-dist/vite/astro'
import { defineConfig } from 'astro/config'

export default defineConfig({
  adapter: node({ mode: 'middleware' }),
  integrations: [serveDist()],
})
