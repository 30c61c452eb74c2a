import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { descriptorLimit } from '../../src/load/load-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { isNative } from '../support/tested-engine.ts'

/** Descriptors for 10,000 connections, one file of each of two builds, and 100 others. */
const needed = isNative ? 10_000 + 2 * 2 + 100 : 10_000 + 2 + 100
/** The same in front of an application. */
const neededForPages = isNative ? 3 * 10_000 + 2 * 2 + 100 : needed
/** A number that is enough for Node's engine, but not for the native one. */
const tooFew = isNative ? 10_102 : 4096
/** On one core, `auto` selects Node's engine in front of an application. */
const engine = isNative ? ['--engine', 'native'] : []

let directory: string
let application: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
  application = join(await writeFixture({ 'entry.mjs': 'export default () => {}' }), 'entry.mjs')
})

async function warningsWith(descriptors: number, flags: readonly string[]): Promise<string[]> {
  const command = spawnCommand([directory, '--port', '0', ...flags], { descriptors })
  await command.listening
  command.child.kill('SIGTERM')
  const { stderr } = await command.exited
  return stderr.split('\n').filter((line) => line !== '')
}

describe.skipIf(process.platform !== 'linux')('serve-dist with a limit of', () => {
  test.each([
    ['too few descriptors warns once', () => [], needed],
    ['too few descriptors warns once, with workers', () => ['--workers', '2'], needed],
    [
      'too few descriptors for an application warns once',
      () => ['--ssr', application, ...engine],
      neededForPages,
    ],
  ])('%s', async (_what, flags, expected) => {
    const warnings = await warningsWith(tooFew, flags())
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      new RegExp(
        `^serve-dist: warning: this process can open ${tooFew} files, but needs up to ${expected} .*ulimit -Hn ${expected}`,
      ),
    )
  })

  // Only root may raise the hard limit.
  test.skipIf(needed > (descriptorLimit() ?? 0))('enough descriptors does not warn', async () => {
    expect(await warningsWith(needed, [])).toEqual([])
  })
})
