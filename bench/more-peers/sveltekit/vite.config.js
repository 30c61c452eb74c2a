import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig } from 'vite'

const { BENCH_ASSETS: assets = 'static', BENCH_OUTPUT: out = 'build' } = process.env

export default defineConfig({
  plugins: [sveltekit({ adapter: adapter({ out, precompress: true }), files: { assets } })],
})
