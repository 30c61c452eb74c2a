import { expect, test } from 'vitest'
import serveDist from './react-router.ts'

test("the preset warns if Vite's configuration lacks the plugin", async () => {
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (text: string) => warnings.push(text) }
  await serveDist()
    .reactRouterConfig()
    .buildEnd({
      reactRouterConfig: { buildDirectory: 'build' },
      viteConfig: { root: '.', plugins: [{ name: 'react-router' }], logger },
    })
  expect(warnings).toEqual([
    expect.stringContaining('Add serveDist() of "@serve-dist/vite" to Vite\'s "plugins".'),
  ])
})
