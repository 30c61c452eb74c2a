import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { descriptorLimit } from '../../src/load/load-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { isNative } from '../support/tested-engine.ts'

/** For 10,000 connections, a build of one file beside the next one, and 100 others. */
const needed = isNative ? 10_000 + 2 * 2 + 100 : 10_000 + 2 + 100
/** The same in front of an application. */
const neededForPages = isNative ? 3 * 10_000 + 2 * 2 + 100 : needed
/** What Node's engine needs is too little for the native one. */
const tooFew = isNative ? 10_102 : 4096
/** With one core, `auto` would take Node's in front of an application. */
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

describe.skipIf(process.platform !== 'linux')('serve-dist whose process may open', () => {
  test.each([
    ['too few files says so once', () => [], needed],
    ['too few files says so once, with workers', () => ['--workers', '2'], needed],
    [
      'too few files for an application says so once',
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

  // Nobody but its administrator may have a machine allow more.
  test.skipIf(needed > (descriptorLimit() ?? 0))('enough files says nothing', async () => {
    expect(await warningsWith(needed, [])).toEqual([])
  })
})
