import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { loadSite } from '../load/load-site.ts'
import type { LoadSiteOptions } from '../load/load-options.ts'
import { openLiveSite } from '../live/open-live-site.ts'
import { buildFixture } from '../../test/support/build-fixture.ts'

const page = { 'index.html': 'page', 'app.js': 'script' }

/** Makes a build and then adds files to it. */
async function withAdded(built: Record<string, string>, added: readonly string[]): Promise<string> {
  const directory = await buildFixture(built)
  for (const path of added) {
    await mkdir(join(directory, path, '..'), { recursive: true })
    await writeFile(join(directory, path), 'added')
  }
  return directory
}

interface Start {
  readonly warnings: readonly string[]
  readonly refusal: OperatorError | undefined
  readonly unlistedFiles: number | undefined
}

async function start(directory: string, options: LoadSiteOptions = {}): Promise<Start> {
  const warnings: string[] = []
  try {
    const site = await loadSite(directory, { onWarning: (warning) => warnings.push(warning), ...options })
    return { warnings, refusal: undefined, unlistedFiles: site.summary.unlistedFiles }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return { warnings, refusal: error, unlistedFiles: undefined }
  }
}

describe('a start with files that the manifest does not list', () => {
  test('does not warn if there are no such files', async () => {
    expect(await start(await buildFixture(page))).toMatchObject({ warnings: [], unlistedFiles: 0 })
  })

  test('warns once with their number, the first names (pages first) and the command', async () => {
    const added = ['a.png', 'b.png', 'c.png', 'z/about.html']
    const directory = await withAdded(page, added)
    const { warnings, unlistedFiles } = await start(directory)
    expect(warnings).toEqual([
      `${directory}: 4 files are not in the manifest and will not be served: z/about.html, a.png, b.png and 1 more. Run: npx serve-dist compress ${directory} (--exclude omits files)`,
    ])
    expect(unlistedFiles).toBe(4)
  })

  test('warns that rules in added files do not apply', async () => {
    const both = await start(await withAdded(page, ['_headers', 'a.png']))
    expect(both.warnings).toEqual([
      expect.stringContaining(
        ': the manifest does not list _headers, so its rules do not apply. 1 file is not in the manifest and will not be served: a.png. Run: ',
      ),
    ])
    const alone = await start(await withAdded(page, ['_headers', '_redirects']))
    expect(alone.warnings).toEqual([
      expect.stringMatching(
        /: the manifest does not list _headers and _redirects, so their rules do not apply\. Run: /,
      ),
    ])
  })

  test.each<[string, Record<string, string>, readonly string[], RegExp]>([
    [
      'no page at all',
      { 'app.js': 'script' },
      ['about.html', 'blog/index.html'],
      /: the manifest lists no page, but the folder contains pages\. /,
    ],
    [
      'no home page',
      { 'app.js': 'script', '404.html': 'gone' },
      ['index.html'],
      /: the manifest does not list index\.html, which the folder contains\. /,
    ],
  ])('is refused with the fix if the manifest lists %s', async (_what, built, added, message) => {
    const directory = await withAdded(built, added)
    const { refusal } = await start(directory)
    expect(refusal?.code).toBe('SD_PAGES_UNLISTED')
    expect(refusal?.message).toMatch(message)
    expect(refusal?.problems).toContain(`  Run: npx serve-dist compress ${directory}`)
    expect(await start(directory, { unlisted: 'warn' })).toMatchObject({
      warnings: [expect.stringMatching(/^.*: \d files? (?:is|are) not in the manifest/)],
      unlistedFiles: added.length,
    })
    expect(await start(directory, { unlisted: 'ignore' })).toMatchObject({
      warnings: [],
      unlistedFiles: added.length,
    })
  })

  test('is refused if pages are in a folder with the name of the base', async () => {
    const directory = await buildFixture({ 'app.js': 'script', '404.html': 'gone' }, { base: '/app/' })
    await mkdir(join(directory, 'app'))
    await writeFile(join(directory, 'app/index.html'), 'page')
    expect((await start(directory)).refusal?.code).toBe('SD_PAGES_UNLISTED')
  })

  test('succeeds if the build has no pages, such as a library or the client of a server', async () => {
    const directory = await withAdded({ 'library.js': 'script' }, ['late.txt'])
    const { refusal, warnings } = await start(directory)
    expect([refusal, warnings.length]).toEqual([undefined, 1])
  })

  test.skipIf(process.platform === 'win32')('quotes the command for a shell', async () => {
    const built = await buildFixture({ 'app.js': 'script' })
    const directory = join(built, "it's here")
    await mkdir(directory)
    await writeFile(join(directory, 'index.html'), 'page')
    const { warnings } = await start(directory)
    expect(warnings).toEqual([expect.stringContaining(String.raw`/it'\''s here'`)])
  })
})

describe('a reload with files that the manifest does not list', () => {
  test('succeeds with a warning', async () => {
    const warnings: string[] = []
    const directory = await buildFixture(page)
    const live = await openLiveSite(directory, { onWarning: (warning) => warnings.push(warning) })
    await rm(directory, { recursive: true })
    const next = await withAdded({ 'app.js': 'other' }, ['index.html'])
    await rename(next, directory)
    expect(await live.reload()).toMatchObject({ status: 'swapped', unlistedFiles: 1 })
    expect(warnings).toEqual([expect.stringContaining('index.html')])
    live.close()
  })
})
