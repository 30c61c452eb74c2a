import serveDist from '@serve-dist/vite/vite-ssg'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

export default defineConfig({ plugins: [vue(), serveDist()] })
