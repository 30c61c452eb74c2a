import { join } from 'node:path'
import type { InlineConfig } from 'vite'
import { describe, expect, test, vi } from 'vitest'
import { chromiumPath } from '../../../e2e/src/launch-chromium.ts'
import serveDist from '../src/index.ts'
import { createProject, type Project } from './support/project.ts'
import { listenForFolder } from './support/serve-folder.ts'
import { useChromium } from './support/use-chromium.ts'
import { vites } from './support/vites.ts'

const patience = { timeout: 20_000, interval: 20 }
const options = { env: { STAGE: { default: 'on the disk' } } }

const page =
  '<!doctype html><html><head><title>t</title><link rel="icon" href="data:,"><script type="module" src="/main.js"></script></head></html>'

/** Code at the start of each page. Messages of workers go into `said`. */
const listening = `
window.said = {}
const listen = (name, target) => {
  target.onmessage = ({ data }) => { window.said[name] = data }
  target.onerror = (event) => { window.said[name] = 'error: ' + event.message }
}
`

const openPage = useChromium()

/** Opens a page and returns the messages of its workers when the given number has arrived. */
async function listenIn(url: string, count: number): Promise<Record<string, unknown>> {
  const { page: opened, complaints } = await openPage()
  await opened.goto(url)
  await opened
    .waitForFunction((most) => Object.keys(Object(globalThis).said ?? {}).length >= most, count)
    .catch(() => undefined)
  const said: unknown = await opened.evaluate(() => Object(globalThis).said)
  return { ...Object(said), ...(complaints.length > 0 && { complaints }) }
}

function startOf(type: string): string {
  return `new Worker(new URL('./w.js', import.meta.url), { type: '${type}' })`
}

describe.each(vites)('virtual:serve-dist/env in workers by $name', ({ build, watch }) => {
  const workers: Record<string, string> = {
    'index.html': page,
    'main.js': `${listening}
import Query from './deep/query.js?worker'
import Shared from './deep/shared.js?sharedworker'
import Inline from './deep/inline.js?worker&inline'
listen('url', new Worker(new URL('./deep/url.js', import.meta.url), { type: 'module' }))
listen('query', new Query())
listen('inline', new Inline())
listen('shared', new Shared().port)
listen('sharedUrl', new SharedWorker(new URL('./deep/shared-url.js', import.meta.url), { type: 'module' }).port)`,
    'deep/url.js': `import { stage } from './common.js'
const nested = new Worker(new URL('./nested.js', import.meta.url), { type: 'module' })
nested.onmessage = async ({ data }) => postMessage([stage, data, (await import('./later.js')).later])`,
    'deep/common.js': `import env from 'virtual:serve-dist/env'\nexport const stage = env.STAGE`,
    'deep/later.js': `import env from 'virtual:serve-dist/env'\nimport { stage } from './common.js'\nexport const later = stage + env.STAGE`,
    'deep/nested.js': `import { stage } from './common.js'\npostMessage(stage)`,
    'deep/query.js': `import { stage } from './common.js'\npostMessage(stage)`,
    'deep/inline.js': `import { stage } from './common.js'\npostMessage(stage)`,
    'deep/shared.js': `import { stage } from './common.js'\nonconnect = ({ ports }) => ports[0].postMessage(stage)`,
    'deep/shared-url.js': `import env from 'virtual:serve-dist/env'\nonconnect = ({ ports }) => ports[0].postMessage(env.STAGE)`,
  }
  const stage = 'on the disk'
  const said = {
    url: [stage, stage, stage + stage],
    query: stage,
    inline: stage,
    shared: stage,
    sharedUrl: stage,
  }

  async function built(base: string, worker?: InlineConfig['worker']): Promise<Project> {
    const project = await createProject(workers)
    await build(project, {
      base,
      plugins: [serveDist(options)],
      ...(worker && { worker }),
      build: { assetsInlineLimit: 0 },
    })
    return project
  }

  const deep = { entryFileNames: 'w/o/r/[name]-[hash].js', chunkFileNames: 'w/[name]-[hash].js' }
  test.runIf(chromiumPath).each([
    ['/', undefined],
    ['/app/', undefined],
    ['./', undefined],
    ['./', { format: 'es' as const, rollupOptions: { output: deep } }],
  ])('is imported by workers under the base %j', async (base, worker) => {
    const project = await built(base, worker)
    const host = await listenForFolder()
    const place = base === './' ? '/some/where/' : base
    host.serve(join(project.root, 'dist'), place)
    expect(await listenIn(host.origin + place, 5)).toEqual(said)
    expect(new Set(host.asked.filter((path) => path.includes('env')))).toEqual(
      new Set([`${place}serve-dist-env.js`]),
    )
    const { environment, files } = await project.manifest()
    expect(environment?.path).toBe('serve-dist-env.js')
    expect(files.filter(({ worker: isWorker }) => isWorker === true)).toHaveLength(5)
  })

  test.each([
    [
      'a classic worker',
      {
        'main.ts': `interface A {}\n\nexport const a: A = {}\nnew Worker(new URL('./w.js', import.meta.url), { name: 'w' })`,
      },
      {},
      /main\.ts:4: the worker is a module but starts as a classic script.*\(imported in w\.js:3\)/s,
    ],
    [
      "a user's worker.format iife",
      { 'main.ts': `new Worker(new URL('./w.js', import.meta.url), { type: 'module' })` },
      { worker: { format: 'iife' as const } },
      /w\.js:3: a worker imports the environment, but Vite's option worker\.format is 'iife'/,
    ],
    [
      'a shared worker from a data: URL',
      { 'main.ts': `import W from './w.js?sharedworker&inline'\nnew W()` },
      {},
      /main\.ts:1: a worker from a data: URL has no origin/,
    ],
    [
      'an inline worker in a worker',
      {
        'main.ts': `new Worker(new URL('./outer.js', import.meta.url), { type: 'module' })`,
        'outer.js': `\nimport W from './w.js?worker&inline'\nnew W()`,
      },
      {},
      /outer\.js:2: a nested inline worker has no URL/,
    ],
    [
      'a chunk of an inline worker',
      {
        'main.ts': `\n\nimport W from './outer.js?worker&inline'\nnew W()`,
        'outer.js': `import('./w.js')`,
      },
      {},
      /main\.ts:3: an inline worker cannot load the chunk that imports the environment\. .*\(imported in w\.js:3\)/s,
    ],
    [
      'a worker from another origin',
      { 'main.ts': `import W from './w.js?worker'\nnew W()` },
      { base: 'https://cdn.example/app/' },
      /main\.ts:1: browsers cannot start workers from another origin.*\(imported in w\.js:3\)/s,
    ],
  ])('is rejected in %s, with file and line', async (_, files, config, message) => {
    const project = await createProject({
      'index.html': page.replace('main.js', 'main.ts'),
      'w.js': `// virtual:serve-dist/env\n\nimport env from 'virtual:serve-dist/env'\npostMessage(env.STAGE)`,
      ...files,
    })
    await expect(build(project, { ...config, plugins: [serveDist(options)] })).rejects.toThrow(message)
  })

  test('is rejected without the option "env"', async () => {
    const project = await createProject(workers)
    await expect(build(project)).rejects.toThrow('has no values. Declare them in the option "env"')
    const twice = { plugins: [serveDist(), serveDist(options)] }
    await expect(build(project, twice)).rejects.toThrow('serveDist() is in "plugins" more than once')
  })

  test('is rejected in a watched build until the code is fixed', async () => {
    const project = await createProject({
      'index.html': page,
      'main.js': startOf('classic'),
      'w.js': `import env from 'virtual:serve-dist/env'\npostMessage(env.STAGE)`,
    })
    const watcher = await watch(project, { plugins: [serveDist(options)] })
    const errors: string[] = []
    watcher.on('event', (event) => {
      if (event.code === 'ERROR') errors.push(event.error.message)
    })
    await vi.waitFor(() => expect(String(errors)).toContain('main.js:1: the worker is a module'), patience)
    await project.write('main.js', startOf('module'))
    await vi.waitFor(async () => {
      const { files } = await project.manifest()
      expect(files.filter(({ worker }) => worker === true)).toHaveLength(1)
    }, patience)
  })
})
