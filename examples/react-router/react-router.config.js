import serveDist from '@serve-dist/vite/react-router'

/** @type {import('@react-router/dev/config').Config} */
export default {
  ssr: true,
  prerender: ['/', '/lighthouses', '/about'],
  presets: [serveDist()],
}
