import { expect, test } from 'vitest'
import { compareAnswers } from './support/compare-answers.ts'
import { createMigratedProject } from './support/migrated-project.ts'
import { readMigrationPage } from './support/migration-page.ts'

test.skipIf(process.platform === 'win32')(
  'docs/migrate/serve.md leads from serve -s to equal or better answers',
  async () => {
    const page = await readMigrationPage('serve.md')
    expect(page.headings).toEqual(['Before', 'After'])
    const project = await createMigratedProject()
    const before = await project.recordAnswers(page.steps('Before'))
    const after = await project.recordAnswers(page.steps('After'))
    expect(compareAnswers(before, after)).toEqual({
      'a page': 'caching, Last-Modified, nosniff, coding, fewer bytes',
      'a page under its file name': 'status',
      'a route of the application': 'caching, Last-Modified, nosniff, coding, fewer bytes',
      'a hashed script': 'caching, type, Last-Modified, nosniff, fewer bytes, length',
      // zlib may pack the file equally well on the fly.
      'a hashed script for gzip': expect.stringMatching(
        /^caching, type, Last-Modified, nosniff(, fewer bytes)?, length$/,
      ),
      'a hashed script for brotli or gzip': 'caching, type, Last-Modified, nosniff, fewer bytes, length',
      'a hashed script without compression': 'caching, type, Last-Modified, nosniff',
      'a hashed script again': 'caching',
      'the first bytes of a hashed script': 'caching, type, Last-Modified, nosniff',
      'a hashed script by HEAD': 'caching, type, Last-Modified, nosniff, coding',
      'a hashed style': 'caching, Last-Modified, nosniff, fewer bytes, length',
      data: 'Last-Modified, nosniff, fewer bytes, length',
      'an image': 'caching, Last-Modified, nosniff',
      'a small text': 'caching, Last-Modified, nosniff',
      'a missing hashed script': 'status',
      'a missing image': 'status',
      'a missing file without an extension': 'status',
      'an old address': '',
    })
  },
)
