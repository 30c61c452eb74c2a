import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { chromiumPath } from '../src/launch-chromium.ts'
import { runToEnd } from '../src/start-command.ts'
import { temporaryFolder } from '../src/temporary-folder.ts'

const cwd = fileURLToPath(new URL('../../examples/deploys', import.meta.url))

const kinds: readonly (readonly [string, readonly string[]])[] = [
  // chromium-is-here.test.ts says so where there is none.
  ...(chromiumPath === undefined ? [] : [['Chromium', []] as const]),
  ['plain fetches', ['--no-browser']],
]

test.each(kinds)('examples/deploys keeps tabs of %s working, and cleans up', async (kind, args) => {
  const temporary = await temporaryFolder()
  const environment = {
    TMPDIR: temporary,
    ...(chromiumPath !== undefined && { CHROMIUM_PATH: chromiumPath }),
  }
  const command = [process.execPath, 'deploys.mjs'] as const
  const { exitCode, output } = await runToEnd(command, { args, cwd, environment })
  expect([exitCode, output]).toEqual([0, expect.stringContaining(`its visitors are ${kind}`)])
  expect(Array.from(output.matchAll(/it shows "(.*)"/g), ([, shown]) => shown)).toEqual([
    'Today, release 1',
    'Bread of release 1',
    'Today, release 2',
    'Cakes of release 1',
    'Bread of release 2',
    'Today, release 3',
    'Today, release 2',
    'Cakes of release 3',
  ])
  const statuses = Array.from(output.matchAll(/^ {2}(\d{3}) {2}\S+/gm), ([, status]) => status)
  expect(statuses.filter((status) => status !== '200')).toEqual(['404'])
  expect(await readdir(temporary)).toEqual([])
})
