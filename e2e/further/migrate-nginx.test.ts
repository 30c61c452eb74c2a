import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import { findProgram } from '../../scripts/find-program.mjs'
import { temporaryFolder } from '../src/temporary-folder.ts'
import { compareAnswers } from './support/compare-answers.ts'
import { buildContainerImage } from './support/container-image.ts'
import { createMigratedProject, type MigratedProject, startServer } from './support/migrated-project.ts'
import { readMigrationPage } from './support/migration-page.ts'
import { type Answers, recordAnswers } from './support/record-answers.ts'
import { startNginxImage } from './support/start-nginx-image.ts'

const nginx = await findProgram('nginx')
const isRequired = process.platform === 'linux' && process.env['CI'] !== undefined

async function recordAnswersOfNginx({ folder }: MigratedProject): Promise<Answers> {
  const image = await buildContainerImage(folder, await temporaryFolder())
  const server = await startNginxImage(nginx ?? 'nginx', image)
  try {
    return await recordAnswers(path.join(image.root, 'usr/share/nginx/html'), server.url)
  } finally {
    await server.stop()
  }
}

async function recordAnswersOfServeDist({ folder }: MigratedProject): Promise<Answers> {
  const image = await buildContainerImage(folder, await temporaryFolder())
  const port = String(await freePort())
  const url = new URL(`http://127.0.0.1:${port}/`)
  const variables = { ...image.environment, PORT: port }
  await startServer(image.command.join(' '), { folder: image.workingFolder, url, variables })
  return await recordAnswers(path.join(image.workingFolder, 'dist'), url)
}

describe.skipIf(nginx === undefined && !isRequired)('docs/migrate/nginx.md', () => {
  test('leads from an nginx image to equal or better answers', async () => {
    const page = await readMigrationPage('nginx.md')
    expect(page.headings).toEqual(['Before', 'After'])
    const project = await createMigratedProject()
    await project.follow(page.steps('Before'))
    const before = await recordAnswersOfNginx(project)
    await project.follow(page.steps('After'))
    const after = await recordAnswersOfServeDist(project)
    expect(compareAnswers(before, after)).toEqual({
      'a page': 'caching, nosniff, coding, fewer bytes',
      'a page under its file name': 'caching, nosniff, coding, fewer bytes',
      'a route of the application': 'caching, nosniff, coding, fewer bytes',
      'a hashed script': 'caching, type, nosniff, coding, fewer bytes, Vary',
      'a hashed script for gzip': 'caching, type, nosniff, fewer bytes, Vary',
      'a hashed script for brotli or gzip': 'caching, type, nosniff, coding, fewer bytes, Vary',
      'a hashed script without compression': 'caching, type, nosniff',
      'a hashed script again': 'caching',
      'the first bytes of a hashed script': 'caching, type, nosniff',
      'a hashed script by HEAD': 'caching, type, nosniff, coding, Vary',
      'a hashed style': 'caching, nosniff, coding, fewer bytes, Vary',
      data: 'caching, nosniff, coding, fewer bytes, Vary',
      'an image': 'caching, nosniff',
      'a small text': 'caching, nosniff',
      'a missing hashed script': '',
      'a missing image': 'status',
      'a missing file without an extension': 'status',
      'an old address': '',
    })
  })
})
