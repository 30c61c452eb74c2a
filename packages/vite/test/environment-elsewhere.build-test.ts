import { createHash } from 'node:crypto'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../../../e2e/src/launch-chromium.ts'
import serveDist from '../src/index.ts'
import { createProject } from './support/project.ts'
import { listenForFolder } from './support/serve-folder.ts'
import { useChromium } from './support/use-chromium.ts'
import { vites } from './support/vites.ts'

const options = { env: { STAGE: { default: 'of this host' } } }
const greeting = 'export default "hello"'
const integrity = `sha384-${createHash('sha384').update(greeting).digest('base64')}`
const head = '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,">'

const openPage = useChromium()

/** Returns the values and the console messages of a page. */
async function visit(url: string): Promise<{ said: unknown; complaints: readonly string[] }> {
  const { page, complaints } = await openPage()
  const warnings: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'warning') warnings.push(message.text())
  })
  await page.goto(url)
  await page.waitForFunction(() => Object(globalThis).said !== undefined)
  const said: unknown = await page.evaluate(() => Object(globalThis).said)
  return { said, complaints: [...complaints, ...warnings] }
}

describe.runIf(chromiumPath).each(vites)('virtual:serve-dist/env from a CDN by $name', ({ name, build }) => {
  test("comes from each page's own host", async () => {
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
    await build(project, {
      base: `${cdn.origin}/x/`,
      plugins: [serveDist(options)],
      build: {
        rollupOptions: {
          input: ['index.html', 'deep/er/own.html'].map((path) => join(project.root, path)),
          external: ['greeting'],
        },
      },
    })
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
    expect(links.map(({ path, rel }) => [path, rel])).toEqual([['serve-dist-env.js', 'preload']])
  })

  // Firefox ignores a second import map.
  test.runIf(name === 'Vite 8').each([true, false])(
    'shares the import map of chunks, with chunks on another host: %s',
    async (isForeign) => {
      const cdn = await listenForFolder()
      const project = await createProject({
        'index.html': `${head}<script type="module" src="/main.js"></script></head></html>`,
        'main.js': `import env from 'virtual:serve-dist/env'
import('./later.js').then(({ later }) => { window.said = [env.STAGE, later] })`,
        'later.js': `import env from 'virtual:serve-dist/env'\nexport const later = env.STAGE`,
      })
      await build(project, {
        base: isForeign ? `${cdn.origin}/x/` : '/x/',
        plugins: [serveDist(options)],
        build: { chunkImportMap: true },
      })
      expect(project.logger.warnings).toEqual([])
      expect((await project.read('dist/index.html')).match(/"importmap"/g)).toHaveLength(1)
      cdn.serve(join(project.root, 'dist'), '/x/')
      const host = await listenForFolder()
      host.serve(join(project.root, 'dist'), '/x/')
      const stage = 'of this host'
      expect(await visit(`${host.origin}/x/`)).toEqual({ said: [stage, stage], complaints: [] })
      expect(cdn.asked.filter((path) => path.includes('env'))).toEqual([])
    },
  )
})
