import { describe, expect, test } from 'vitest'
import { compareAnswers } from './support/compare-answers.ts'
import { createMigratedProject } from './support/migrated-project.ts'
import { readMigrationPage, type Step } from './support/migration-page.ts'
import type { Answers } from './support/record-answers.ts'

const page = await readMigrationPage('vite-plugin-compression.md')

/** The server that the page calls "your server". */
const ownServer: readonly Step[] = [
  {
    kind: 'file',
    name: 'sirv.mjs',
    text: `import { createServer } from 'node:http'
import sirv from 'sirv'
createServer(sirv('dist', { brotli: true, gzip: true, etag: true, single: true })).listen(3000)
`,
  },
  { kind: 'commands', lines: ['npm install sirv', 'node sirv.mjs'] },
]

/** Follows the page. Returns the answers of sirv with both plugins, and those of serve-dist. */
async function migrate(
  plugin: string,
): Promise<Record<'before' | 'withOwnServer' | 'withServeDist', Answers>> {
  const project = await createMigratedProject()
  const before = await project.recordAnswers([...page.steps(plugin), ...ownServer])
  const withOwnServer = await project.recordAnswers([...page.steps('After'), ...ownServer])
  const withServeDist = await project.recordAnswers(page.steps('With the server of serve-dist'))
  return { before, withOwnServer, withServeDist }
}

describe.skipIf(process.platform === 'win32')('docs/migrate/vite-plugin-compression.md', () => {
  test('has code for both plugins', () => {
    expect(page.headings).toEqual([
      'vite-plugin-compression',
      'vite-plugin-compression2',
      'After',
      'With the server of serve-dist',
    ])
  })

  test('leads from vite-plugin-compression to equal or better answers', async () => {
    const { before, withOwnServer, withServeDist } = await migrate('vite-plugin-compression')
    expect(compareAnswers(before, withOwnServer)).toEqual({
      'a page': 'coding, fewer bytes',
      'a page under its file name': 'coding, fewer bytes',
      'a route of the application': 'coding, fewer bytes',
      'a hashed script': 'coding, fewer bytes',
      'a hashed script for gzip': '',
      'a hashed script for brotli or gzip': 'coding, fewer bytes',
      'a hashed script without compression': '',
      'a hashed script again': '',
      'the first bytes of a hashed script': '',
      'a hashed script by HEAD': 'coding',
      'a hashed style': 'coding, fewer bytes',
      data: 'coding, fewer bytes',
      'an image': '',
      'a small text': '',
      'a missing hashed script': '',
      'a missing image': '',
      'a missing file without an extension': 'coding, fewer bytes',
      'an old address': 'coding, fewer bytes',
    })
    expect(compareAnswers(before, withServeDist)).toEqual({
      'a page': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a page under its file name': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a route of the application': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a hashed script': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a hashed script for gzip': 'caching, entity tag, nosniff',
      'a hashed script for brotli or gzip': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a hashed script without compression': 'caching, entity tag, nosniff',
      'a hashed script again': 'caching',
      'the first bytes of a hashed script': 'caching, entity tag, nosniff',
      'a hashed script by HEAD': 'caching, entity tag, nosniff, coding',
      'a hashed style': 'caching, entity tag, nosniff, coding, fewer bytes',
      data: 'caching, entity tag, nosniff, coding, fewer bytes',
      'an image': 'caching, entity tag, nosniff',
      'a small text': 'caching, entity tag, nosniff',
      'a missing hashed script': '',
      'a missing image': '',
      'a missing file without an extension': 'status',
      'an old address': 'caching, entity tag, nosniff, coding, fewer bytes',
    })
  })

  test('leads from vite-plugin-compression2 to equal or better answers', async () => {
    const { before, withOwnServer, withServeDist } = await migrate('vite-plugin-compression2')
    expect(compareAnswers(before, withOwnServer)).toEqual({
      'a page': 'coding, fewer bytes',
      'a page under its file name': 'coding, fewer bytes',
      'a route of the application': 'coding, fewer bytes',
      'a hashed script': '',
      'a hashed script for gzip': '',
      'a hashed script for brotli or gzip': '',
      'a hashed script without compression': '',
      'a hashed script again': '',
      'the first bytes of a hashed script': '',
      'a hashed script by HEAD': '',
      'a hashed style': '',
      data: '',
      'an image': '',
      'a small text': '',
      'a missing hashed script': '',
      'a missing image': '',
      'a missing file without an extension': 'coding, fewer bytes',
      'an old address': 'coding, fewer bytes',
    })
    expect(compareAnswers(before, withServeDist)).toEqual({
      'a page': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a page under its file name': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a route of the application': 'caching, entity tag, nosniff, coding, fewer bytes',
      'a hashed script': 'caching, entity tag, nosniff',
      'a hashed script for gzip': 'caching, entity tag, nosniff',
      'a hashed script for brotli or gzip': 'caching, entity tag, nosniff',
      'a hashed script without compression': 'caching, entity tag, nosniff',
      'a hashed script again': 'caching',
      'the first bytes of a hashed script': 'caching, entity tag, nosniff',
      'a hashed script by HEAD': 'caching, entity tag, nosniff',
      'a hashed style': 'caching, entity tag, nosniff',
      data: 'caching, entity tag, nosniff',
      'an image': 'caching, entity tag, nosniff',
      'a small text': 'caching, entity tag, nosniff',
      'a missing hashed script': '',
      'a missing image': '',
      'a missing file without an extension': 'status',
      'an old address': 'caching, entity tag, nosniff, coding, fewer bytes',
    })
  })
})
