import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
})

describe.skipIf(process.platform !== 'linux')('serve-dist whose process may open', () => {
  test.each([
    ['too few files says so once', 4096, [], 1],
    ['too few files says so once, with workers', 4096, ['--workers', '2'], 1],
    ['enough files says nothing', 10_102, [], 0],
  ])('%s (%d)', async (_what, descriptors, flags, times) => {
    const command = spawnCommand([directory, '--port', '0', ...flags], { descriptors })
    await command.listening
    command.child.kill('SIGTERM')
    const { stderr } = await command.exited
    const warnings = stderr.split('\n').filter((line) => line !== '')
    expect(warnings).toHaveLength(times)
    for (const warning of warnings) {
      expect(warning).toMatch(
        /^serve-dist: warning: this process may open 4096 files, and takes up to 10102 /,
      )
      expect(warning).toContain('ulimit -Hn 10102')
    }
  })
})
