import withServeDist from '@serve-dist/vite/vitepress'
import { defineConfig } from 'vitepress'

export default withServeDist(
  defineConfig({
    title: 'Example',
    description: 'Documentation behind serve-dist',
    cleanUrls: true,
    head: [['link', { rel: 'icon', href: '/favicon.svg' }]],
    themeConfig: {
      nav: [
        { text: 'Home', link: '/' },
        { text: 'Guide', link: '/guide/start' },
        { text: 'About', link: '/about' },
      ],
    },
  }),
)
