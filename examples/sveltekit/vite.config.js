import serveDist from '@serve-dist/vite/sveltekit'
import node from '@sveltejs/adapter-node'
import pages from '@sveltejs/adapter-static'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig } from 'vite'

export default defineConfig(({ mode }) => {
  const adapter = mode === 'server' ? node() : pages({ fallback: '404.html' })
  return { plugins: [sveltekit({ adapter: serveDist(adapter) })] }
})
