import { expect, test } from 'vitest'
import { makeFolder } from '../../test/support/make-folder.ts'
import { warnAboutUnmatchedGlobs } from './warn-about-unmatched-globs.ts'

test('warns about globs that match no file, with a hint about backslashes', async () => {
  const folder = await makeFolder({ 'drafts/one.html': '', 'index.html': '', 'page (1).html': '' })
  const include = ['**', 'drafts', 'drafts/**', '*.html', '!index.html', 'page (1).html']
  const warnings: string[] = []
  const warn = (message: string): number => warnings.push(message)
  await warnAboutUnmatchedGlobs(folder, { include, exclude: undefined }, warn)
  await warnAboutUnmatchedGlobs(folder, { include, exclude: ['!secret.txt', 'draft', 'one.html'] }, warn)
  await warnAboutUnmatchedGlobs(folder, { '--exclude': ['drafts\\**'] }, warn)
  expect(warnings).toEqual([
    `exclude !secret.txt, exclude draft, exclude one.html: no file in ${folder} matches. Correct the glob.`,
    `--exclude drafts\\**: no file in ${folder} matches. Separate folders with "/" instead of "\\", on every system.`,
  ])
})
