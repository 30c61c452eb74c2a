import { createHash } from 'node:crypto'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launchChromium } from '../../../e2e/src/launch-chromium.ts'
import serveDist from '../src/index.ts'
import { createProject } from './support/project.ts'
import { listenForFolder } from './support/serve-folder.ts'
import { vites } from './support/vites.ts'

const options = { env: { STAGE: { default: 'of this host' } } }
const greeting = 'export default "hello"'
const integrity = `sha384-${createHash('sha384').update(greeting).digest('base64')}`
const head = '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,">'

let browser: Awaited<ReturnType<typeof launchChromium>> | undefined
beforeAll(async () => {
  if (chromiumPath !== undefined) browser = await launchChromium()
})
afterAll(() => browser?.close())

/** What a page says, and what it complains of. */
async function visit(url: string): Promise<{ said: unknown; complaints: string[] }> {
  if (browser === undefined) throw new Error('no Chromium')
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', ({ message }) => void complaints.push(message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    await page.goto(url)
    await page.waitForFunction(() => Object(globalThis).said !== undefined, undefined, { timeout: 5000 })
    return { said: await page.evaluate(() => Object(globalThis).said), complaints }
  } finally {
    await context.close()
  }
}

describe.runIf(chromiumPath).each(vites)('virtual:serve-dist/env from a CDN by $name', ({ load }) => {
  test("is that of each page's own host", async () => {
    const cdn = await listenForFolder()
    const project = await createProject({
      'index.html': `${head}<script type="module" src="/main.js"></script></head></html>`,
      'deep/er/own.html': `${head}<script type="module" src="/own.js"></script>
        <script type="importmap">{"imports":{"greeting":"/x/greeting.js"},"integrity":{"/x/greeting.js":"${integrity}"}}</script></head></html>`,
      'public/greeting.js': greeting,
      'stage.js': `import env from 'virtual:serve-dist/env'\nexport const stage = env.STAGE`,
      'main.js': `import { stage } from './stage.js'
import Inline from './inline.js?worker&inline'
const inline = new Promise((resolve) => { new Inline().onmessage = ({ data }) => resolve(data) })
import('./later.js').then(async ({ later }) => { window.said = [stage, later, await inline] })`,
      'later.js': `import env from 'virtual:serve-dist/env'\nexport const later = env.STAGE`,
      'inline.js': `import env from 'virtual:serve-dist/env'\npostMessage(env.STAGE)`,
      'own.js': `import greeting from 'greeting'
import('virtual:serve-dist/env').then(({ default: env }) => { window.said = [greeting, env.STAGE] })`,
    })
    const { build } = await load()
    await build(
      project.config({
        base: `${cdn.origin}/x/`,
        plugins: [serveDist(options)],
        build: {
          rollupOptions: {
            input: ['index.html', 'deep/er/own.html'].map((name) => join(project.root, name)),
            external: ['greeting'],
          },
        },
      }),
    )
    await cp(join(project.root, 'dist'), join(project.root, 'cdn'), { recursive: true })
    await project.write('cdn/serve-dist-env.js', 'export default { STAGE: "of the CDN" }')
    cdn.serve(join(project.root, 'cdn'), '/x/')
    const host = await listenForFolder()
    host.serve(join(project.root, 'dist'), '/x/')
    const stage = 'of this host'
    expect(await visit(`${host.origin}/x/`)).toEqual({ said: [stage, stage, stage], complaints: [] })
    expect(await visit(`${host.origin}/x/deep/er/own.html`)).toEqual({
      said: ['hello', stage],
      complaints: [],
    })
    expect(cdn.asked.some((path) => path.startsWith('/x/assets/'))).toBe(true)
    expect(cdn.asked.filter((path) => path.includes('env'))).toEqual([])
    const { files, base } = await project.manifest()
    expect(base).toBe('/x/')
    const links = files.flatMap((file) => file.links ?? [])
    expect(links).toEqual([])
  })
})
