import { expect, test } from 'vitest'
import serveDist from './react-router.ts'

test('the preset warns where Vite has no plugin of ours to ask', async () => {
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => warnings.push(text) }
  await serveDist()
    .reactRouterConfig()
    .buildEnd({
      reactRouterConfig: { buildDirectory: 'build' },
      viteConfig: { root: '.', plugins: [{ name: 'react-router' }], logger },
    })
  expect(warnings).toEqual([
    expect.stringContaining('put serveDist() of "@serve-dist/vite" into Vite\'s "plugins"'),
  ])
})
