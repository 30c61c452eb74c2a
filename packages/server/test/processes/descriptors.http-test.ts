import { beforeAll, describe, expect, test } from 'vitest'
import { descriptorLimit } from '../../src/load/load-options.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { isNative } from '../support/tested-engine.ts'

/** For 10,000 connections, a build of one file beside the next one, and 100 others. */
const needed = isNative ? 3 * 10_000 + 2 * 2 + 100 : 10_000 + 2 + 100
/** What Node's engine needs is too little for the native one. */
const tooFew = isNative ? 10_102 : 4096

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
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
    ['too few files says so once', []],
    ['too few files says so once, with workers', ['--workers', '2']],
  ])('%s', async (_what, flags) => {
    const warnings = await warningsWith(tooFew, flags)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      new RegExp(
        `^serve-dist: warning: this process may open ${tooFew} files, and takes up to ${needed} .*ulimit -Hn ${needed}`,
      ),
    )
  })

  // Nobody but its administrator may have a machine allow more.
  test.skipIf(needed > (descriptorLimit() ?? 0))('enough files says nothing', async () => {
    expect(await warningsWith(needed, [])).toEqual([])
  })
})
