import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({ plugins: [serveDist()] })
