import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'

/** A C1 control character that starts an escape sequence, DEL, and a bidirectional override. */
const hostile = 'a\u009B2Jb\u007F\u202Ec'
const shown = String.raw`a\u{9b}2Jb\u{7f}\u{202e}c`
const unprintable = /(?!\n)[\p{Cc}\p{Cf}]/u

// Windows does not allow such names.
describe.skipIf(process.platform === 'win32')('a file name with terminal control characters', () => {
  test('is escaped in warnings of compress', async () => {
    const directory = await writeFixture({ 'index.html': '<p>', [`${hostile}.txt`]: 'a' })
    const { code, stderr } = await spawnCommand(['compress', directory]).exited
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${shown}.txt`)])
    expect(stderr).not.toMatch(unprintable)
  })

  test('is escaped in a start warning that a library prints', async () => {
    const warnings: string[] = []
    const directory = await buildFixture({
      'index.html': '<p>',
      _headers: `${hostile}\n`,
      _redirects: `/old ${hostile}\n`,
    })
    await writeFile(join(directory, 'late.txt'), 'late')
    await loadSite(directory, { onWarning: (message) => warnings.push(message) })
    expect(warnings.join('\n')).toContain(`_headers:1: "${shown}" is not a path`)
    expect(warnings.join('\n')).not.toMatch(unprintable)
  })

  test.each([
    ['of a folder', [hostile]],
    ['of a path', ['explain', hostile]],
    ['of a configuration', ['--config', hostile]],
  ])('is escaped in the error that names it: %s', async (_what, args) => {
    const { code, stderr } = await spawnCommand(args).exited
    expect([code, stderr]).toEqual([1, expect.stringContaining(shown)])
    expect(stderr).not.toMatch(unprintable)
  })

  test('is escaped in the output of explain', async () => {
    const directory = await buildFixture({ 'index.html': '<p>', 'a\u202Eb.txt': 'a' })
    const { code, stdout } = await spawnCommand(['explain', '/a%E2%80%AEb.txt', directory]).exited
    expect([code, stdout]).toEqual([0, expect.stringContaining(String.raw`200 OK · a\u{202e}b.txt`)])
    expect(stdout).not.toMatch(unprintable)
  })
})
