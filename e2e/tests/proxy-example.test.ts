import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadEngine } from '../../packages/engine/dist/index.js'
import { buildExample } from '../src/build-example.ts'
import type { BuiltExample } from '../src/built-example.ts'
import { chromiumPath, launchChromium } from '../src/launch-chromium.ts'
import { openPage } from '../src/open-page.ts'
import { type RunningCommand, startCommand } from '../src/start-command.ts'

const cwd = fileURLToPath(new URL('../../examples/proxy', import.meta.url))
const vite = path.join(cwd, 'node_modules/vite/bin/vite.js')

describe.skipIf(chromiumPath === undefined)('Chromium on examples/proxy', () => {
  let example: BuiltExample
  let api: RunningCommand
  let browser: Browser

  beforeAll(async () => {
    example = await buildExample('proxy', cwd)
    api = await startCommand([process.execPath], { args: ['api.js'], cwd, environment: { PORT: '0' } })
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await api?.stop()
  })

  const commands: readonly (readonly [string, () => readonly string[]])[] = [
    ['vite', () => [process.execPath, vite]],
    ['vite preview', () => [process.execPath, vite, 'preview']],
    ["serve-dist with Node's engine", () => [...example.command, '--engine', 'node']],
    ...(typeof loadEngine() === 'string'
      ? []
      : [['serve-dist with the native engine', () => [...example.command, '--engine', 'native']] as const]),
  ]

  test.each(commands)('gets JSON, a WebSocket and an event stream from %s', async (_name, command) => {
    const [program = '', ...args] = command()
    const place = ['--host', '127.0.0.1', '--port', '0']
    const environment = { API: api.url.origin }
    const running = await startCommand([program], { args: [...args, ...place], cwd, environment })
    onTestFinished(async () => {
      await running.stop()
    })
    const { page, complaints } = await openPage(browser)
    await page.goto(running.url.href)
    await expect.poll(() => page.locator('#lighthouse').innerText()).toBe('North Pier, 21 m')
    await expect.poll(() => page.locator('#radio').innerText()).toBe('Hello, keeper. Over.')
    await page.locator('#flashes li').nth(1).waitFor()
    const flashes = await page.locator('#flashes li').allInnerTexts()
    expect(flashes.slice(0, 2)).toEqual(['flash 1', 'flash 2'])
    expect(complaints).toEqual([])
  })
})
