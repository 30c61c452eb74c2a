import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { descriptorLimit } from '../../src/load/load-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { isNative } from '../support/tested-engine.ts'

/** Descriptors for 10,000 connections, one file of each of two builds, and 100 others. */
const needed = isNative ? 10_000 + 2 * 2 + 100 : 10_000 + 2 + 100
/** The connections that a number which is enough for Node's engine leaves to the native one, or 4096 to Node's. */
const [tooFew, most] = isNative ? [10_102, 10_102 - 2 * 2 - 100] : [4096, 4096 - 2 - 100]
/** The limit to set in front of an application, and the connections that it can have. */
const [neededForPages, mostForPages] = isNative ? [16_000, Math.floor(most / 3)] : [needed, most]

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
    ['too few descriptors warns once', () => [], needed, most],
    ['too few descriptors warns once, with workers', () => ['--workers', '2'], needed, most],
    [
      'too few descriptors for an application warns once',
      () => ['--ssr', application],
      neededForPages,
      mostForPages,
    ],
  ])('%s', async (_what, flags, expected, connections) => {
    const warnings = await warningsWith(tooFew, flags())
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      new RegExp(
        `^serve-dist: warning: connections beyond ${connections} will hang. Raise ulimit -n from ${tooFew} to ${expected} `,
      ),
    )
  })

  // Only root may raise the hard limit.
  test.skipIf(needed > (descriptorLimit() ?? 0))('enough descriptors does not warn', async () => {
    expect(await warningsWith(needed, [])).toEqual([])
  })

  test.skipIf((descriptorLimit() ?? 0) < 16_000)('16,000 descriptors never warns', async () => {
    expect(await warningsWith(16_000, ['--ssr', application])).toEqual([])
  })
})
