import { describe, expect, test } from 'vitest'
import { compareAnswers } from './support/compare-answers.ts'
import { createMigratedProject } from './support/migrated-project.ts'
import { readMigrationPage } from './support/migration-page.ts'

const page = await readMigrationPage('sirv.md')

describe.skipIf(process.platform === 'win32')('docs/migrate/sirv.md', () => {
  test('has code for both servers', () => {
    expect(page.headings).toEqual(['sirv', 'express.static', 'After'])
  })

  test('leads from sirv in Express to equal or better answers', async () => {
    const project = await createMigratedProject()
    const before = await project.recordAnswers(page.steps('sirv'))
    const after = await project.recordAnswers(page.steps('After'))
    expect(compareAnswers(before, after)).toEqual({
      'a page': 'entity tag, nosniff, coding, fewer bytes',
      'a page under its file name': 'entity tag, nosniff, coding, fewer bytes',
      'a route of the application': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script for gzip': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script for brotli or gzip': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script without compression': 'entity tag, nosniff',
      'a hashed script again': 'caching',
      'the first bytes of a hashed script': 'entity tag, nosniff',
      'a hashed script by HEAD': 'entity tag, nosniff, coding',
      'a hashed style': 'entity tag, nosniff, coding, fewer bytes',
      data: 'entity tag, nosniff, coding, fewer bytes',
      'an image': 'entity tag, nosniff',
      'a small text': 'entity tag, nosniff',
      'a missing hashed script': '',
      'a missing image': '',
      'a missing file without an extension': 'status',
      'an old address': 'entity tag, nosniff, coding, fewer bytes',
    })
  })

  test('leads from express.static to equal or better answers', async () => {
    const project = await createMigratedProject()
    const before = await project.recordAnswers(page.steps('express.static'))
    const after = await project.recordAnswers(page.steps('After'))
    expect(compareAnswers(before, after)).toEqual({
      'a page': 'entity tag, nosniff, coding, fewer bytes',
      'a page under its file name': 'entity tag, nosniff, coding, fewer bytes',
      'a route of the application': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script for gzip': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script for brotli or gzip': 'entity tag, nosniff, coding, fewer bytes',
      'a hashed script without compression': 'entity tag, nosniff',
      'a hashed script again': '',
      'the first bytes of a hashed script': 'entity tag, nosniff',
      'a hashed script by HEAD': 'entity tag, nosniff, coding',
      'a hashed style': 'entity tag, nosniff, coding, fewer bytes',
      data: 'entity tag, nosniff, coding, fewer bytes',
      'an image': 'entity tag, nosniff',
      'a small text': 'entity tag, nosniff',
      'a missing hashed script': '',
      'a missing image': 'status',
      'a missing file without an extension': 'status',
      'an old address': 'entity tag, nosniff, coding, fewer bytes',
    })
  })
})
