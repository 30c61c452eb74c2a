import { createRequire } from 'node:module'
import medusa from '@medusajs/admin-vite-plugin'
import react from '@vitejs/plugin-react'
import autoprefixer from 'autoprefixer'
import tailwindcss from 'tailwindcss'
import { defineConfig } from 'vite'

// Its ES module cannot be loaded by Node.
const preset = createRequire(import.meta.url)('@medusajs/ui-preset')
// The plugin of the workspace that measures.
const { default: serveDist } = await import(process.env['SERVE_DIST_PLUGIN'])

const styled = ['./index.html', './src/**/*.{ts,tsx}', './node_modules/@medusajs/ui/dist/**/*.{js,mjs}']

export default defineConfig({
  plugins: [react(), medusa({ sources: [] }), serveDist({ pass: false })],
  css: {
    postcss: {
      plugins: [tailwindcss({ presets: [preset], content: styled, darkMode: 'class' }), autoprefixer()],
    },
  },
  define: { __BASE__: '"/"', __BACKEND_URL__: '"/"', __STOREFRONT_URL__: '"http://localhost:8000"' },
})
