import { reactRouter } from '@react-router/dev/vite'
import serveDist from '@serve-dist/vite'
import { defineConfig } from 'vite'

export default defineConfig({ plugins: [reactRouter(), serveDist()] })
