import { describe, expect, test } from 'vitest'
import serveDist from '../src/index.ts'
import { application, createProject, prose } from './support/project.ts'
import { vites } from './support/vites.ts'

/** Removes hashes from names, so that bundlers can be compared. */
function withoutHashes(classes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(classes).map(([path, cache]) => [
      cache === 'immutable' ? path.replace(/[\w-]{8}(?=\.\w+$)/, '*') : path,
      cache,
    ]),
  )
}

describe.each(vites)('the cache classes of a build by $name', ({ build }) => {
  test('are immutable for files that the bundler hashed, and for no others', async () => {
    const project = await createProject({
      ...application,
      'main.js': `${application['main.js']}
        import url from './data.bin?url'
        import FromQuery from './query.js?worker'
        console.log(url, new FromQuery(), new Worker(new URL('./url.js', import.meta.url), { type: 'module' }))`,
      'data.bin': prose('data'),
      'query.js': `postMessage(${JSON.stringify(prose('query'))})`,
      'url.js': `import nested from './nested.bin?url'; postMessage(nested)`,
      'nested.bin': prose('nested'),
      'public/assets/jquery-3.7.1.min.js': prose('jquery'),
      'public/assets/vendored-abcdefgh.js': prose('vendored'),
      'public/robots.txt': 'User-agent: *',
    })
    const emitter = {
      name: 'emitter',
      buildStart(this: { emitFile(file: object): string }) {
        this.emitFile({ type: 'asset', fileName: 'assets/explicit-abcdefgh.txt', source: 'explicit' })
        const named = 'assets/both-abcdefgh.txt'
        this.emitFile({ type: 'asset', fileName: named, name: 'both-abcdefgh.txt', source: 'both' })
        this.emitFile({ type: 'asset', name: 'sub/hö hö#1.txt', source: 'sanitized' })
      },
      generateBundle(this: { emitFile(file: object): string }) {
        for (const source of ['a', 'b']) this.emitFile({ type: 'asset', name: 'two.svg', source })
        this.emitFile({ type: 'asset', name: 'logo.svg', source: 'chosen' })
        // As long as a hash and in the same place, so it is unknown which of both names the bundler made.
        const lookalike = 'assets/logo-original.svg'
        this.emitFile({ type: 'asset', fileName: lookalike, name: 'logo.svg', source: 'chosen' })
      },
    }
    await build(project, {
      plugins: [emitter, serveDist()],
      build: { sourcemap: true, assetsInlineLimit: 0 },
      worker: { format: 'es' },
    })
    const found = await project.classes()
    const two = Object.entries(found).filter(([path]) => path.startsWith('assets/two-'))
    expect(two.map(([, cache]) => cache)).toEqual(['immutable', 'immutable'])
    const classes = withoutHashes(found)
    const immutable = Object.keys(classes).filter((path) => classes[path] === 'immutable')
    expect(immutable.map((path) => path.replace('#', '_')).toSorted()).toEqual([
      'assets/data-*.bin',
      'assets/index-*.css',
      'assets/index-*.js',
      'assets/lazy-*.js',
      'assets/nested-*.bin',
      'assets/query-*.js',
      'assets/sub/hö hö_1-*.txt',
      'assets/two-*.svg',
      'assets/url-*.js',
    ])
    expect(classes).toMatchObject({
      'index.html': 'revalidate',
      'robots.txt': 'revalidate',
      'assets/jquery-3.7.1.min.js': 'revalidate',
      'assets/vendored-abcdefgh.js': 'revalidate',
      'assets/explicit-abcdefgh.txt': 'revalidate',
      'assets/both-abcdefgh.txt': 'revalidate',
      'assets/logo-original.svg': 'revalidate',
    })
    const maps = Object.keys(classes).filter((path) => path.endsWith('.map'))
    expect(maps.length).toBeGreaterThan(1)
    expect(maps.map((path) => classes[path])).toEqual(maps.map(() => 'revalidate'))
  })

  test("follow the user's patterns", async () => {
    const project = await createProject({
      ...application,
      'main.js': `${application['main.js']}; import a from './a.svg?url'; import b from './b.png?url'; console.log(a, b)`,
      'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'b.png': 'not really',
    })
    await build(project, {
      build: {
        assetsInlineLimit: 0,
        rollupOptions: {
          output: {
            entryFileNames: '[name].js',
            chunkFileNames: 'js/[hash:12]/[name].js',
            assetFileNames: ({ names }) =>
              names[0]?.endsWith('.svg') ? 'img/[name].[hash:10].[ext]' : 'plain/[name][extname]',
          },
        },
      },
    })
    const classes = Object.entries(await project.classes())
    expect(
      classes.map(([path, cache]) => [
        path.replace(/[\w-]{12}(?=\/lazy)/, '{12}').replace(/(?<=a\.)[\w-]{10}(?=\.)/, '{10}'),
        cache,
      ]),
    ).toEqual([
      ['img/a.{10}.svg', 'immutable'],
      ['index.html', 'revalidate'],
      ['index.js', 'revalidate'],
      ['js/{12}/lazy.js', 'immutable'],
      ['plain/b.png', 'revalidate'],
      ['plain/index.css', 'revalidate'],
    ])
  })

  test('follow the patterns of workers', async () => {
    const project = await createProject({
      'index.html': '<script type="module" src="/main.js"></script>',
      'main.js': `new Worker(new URL('./plain-abcdefgh.js', import.meta.url), { type: 'module' })`,
      'plain-abcdefgh.js': `import('./inner.js')`,
      'inner.js': `postMessage(${JSON.stringify(prose('inner'))})`,
    })
    await build(project, {
      worker: { format: 'es', rollupOptions: { output: { entryFileNames: 'assets/[name].js' } } },
    })
    const classes = withoutHashes(await project.classes())
    expect(classes).toEqual({
      'assets/index-*.js': 'immutable',
      'assets/inner-*.js': 'immutable',
      'assets/plain-abcdefgh.js': 'revalidate',
      'index.html': 'revalidate',
    })
  })

  test("keep the user's plugins for workers", async () => {
    const project = await createProject({
      'index.html': '<script type="module" src="/main.js"></script>',
      'main.js': `new Worker(new URL('./w.js', import.meta.url), { type: 'module' })`,
      'w.js': 'postMessage(REPLACED)',
    })
    const replace = {
      name: 'replace',
      transform: (code: string) => code.replace('REPLACED', '"by the user"'),
    }
    await build(project, { worker: { format: 'es', plugins: () => [replace] } })
    const worker = Object.keys(await project.classes()).find((path) => path.startsWith('assets/w-'))
    expect(await project.read(`dist/${worker}`)).toContain('by the user')
  })
})
