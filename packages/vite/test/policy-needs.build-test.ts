import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildPolicy, createContentSecurityPolicy } from '@serve-dist/manifest'
import { build } from 'vite'
import { describe, expect, test } from 'vitest'
import { chromiumPath } from '../../../e2e/src/launch-chromium.ts'
import serveDist from '../src/index.ts'
import { createProject } from './support/project.ts'
import { listenForFolder } from './support/serve-folder.ts'
import { useChromium } from './support/use-chromium.ts'
import { isChosen } from './support/vites.ts'

const openPage = useChromium()

/** Returns the directives that a page violates. */
async function violationsOf(url: string): Promise<string[]> {
  const { page } = await openPage()
  await page.addInitScript(() => {
    const violated: string[] = []
    Object.assign(globalThis, { violated })
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => violated.push(effectiveDirective))
  })
  await page.goto(url, { waitUntil: 'networkidle' })
  const violated: unknown = await page.evaluate(() => Object(globalThis).violated)
  return [...new Set(Array.isArray(violated) ? violated.map(String) : [])]
}

describe.runIf(chromiumPath !== undefined && isChosen({ name: 'Vite 8' }))('the policy of a build', () => {
  test('contains the host of files for each directive, and inline workers', async () => {
    const cdn = await listenForFolder()
    const project = await createProject({
      'index.html':
        '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script></head><body>a</body></html>',
      'main.js': `import './style.css'
import image from './image.svg?url'
import sound from './sound.mp3?url'
import data from './data.bin?url'
import Inline from './inline.js?worker&inline'
new Image().src = image
new Audio(sound).load()
new Inline()
fetch(data)
import('./later.js')`,
      'later.js': 'console.log("later")',
      'inline.js': 'postMessage(1)',
      'style.css': `@font-face { font-family: f; src: url('./font.woff2') } body { font-family: f }`,
      'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'sound.mp3': 'sound',
      'data.bin': 'data',
      'font.woff2': 'font',
    })
    await build(
      project.config({
        base: `${cdn.origin}/x/`,
        plugins: [serveDist({ serving: { csp: true } })],
        build: { assetsInlineLimit: 0 },
      }),
    )
    await cp(join(project.root, 'dist'), join(project.root, 'cdn'), { recursive: true })
    cdn.serve(join(project.root, 'cdn'), '/x/')
    const fields: Record<string, string> = {}
    const host = await listenForFolder(fields)
    host.serve(join(project.root, 'dist'), '/x/')
    const { policy: needs = {}, files } = await project.manifest()
    const page = files.find(({ path }) => path === 'index.html')?.policy
    const visit = async (named: BuildPolicy): Promise<string[]> => {
      const policyFor = createContentSecurityPolicy({ rules: [], build: named, originOf: () => undefined })
      fields['Content-Security-Policy'] = policyFor(page)
      return await violationsOf(`${host.origin}/x/`)
    }
    expect(await visit(needs)).toEqual([])
    const without = (name: string, source: string): BuildPolicy => ({
      ...needs,
      [name]: (needs[name] ?? []).filter((text) => text !== source),
    })
    // The remaining `worker-src` replaces `script-src`.
    expect(await visit(without('worker-src', 'blob:'))).toEqual(['worker-src'])
    expect(await visit(without('script-src', cdn.origin))).toEqual(['script-src-elem'])
    for (const name of ['connect-src', 'font-src', 'img-src', 'media-src'])
      expect(await visit(without(name, cdn.origin))).toEqual([name])
    expect(await visit(without('style-src', cdn.origin))).toEqual(['style-src-elem'])
  })
})
