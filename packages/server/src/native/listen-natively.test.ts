import { openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listOpenFilesIn } from '../../test/support/list-open-files-in.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'
import { listenNatively } from './listen-natively.ts'

test.skipIf(process.platform !== 'linux')(
  'listenNatively closes a descriptor that it was given',
  async () => {
    // Another thread may reuse the number immediately, but not for this file.
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'socket'), '')
    const descriptor = openSync(join(directory, 'socket'), 'r')
    const engine = { listen: () => ({ address: '127.0.0.1', port: 80 }) }
    const origin = await listenNatively({ engine, scheme: 'http' }, { descriptor })
    expect(origin).toBe('http://127.0.0.1:80')
    expect(listOpenFilesIn(directory)).toEqual([])
  },
)

test('listenNatively reports a limit of threads instead of the port', async () => {
  const message = 'listen EAGAIN: resource temporarily unavailable'
  const engine = {
    listen() {
      throw Object.assign(new Error(message), { code: 'EAGAIN' })
    },
  }
  await expect(
    listenNatively({ engine, scheme: 'http' }, { host: '127.0.0.1', port: 80 }),
  ).rejects.toMatchObject({
    code: 'SD_ENGINE_UNAVAILABLE',
    message:
      'the native engine cannot start its threads because of a system limit. Raise it (ulimit -u, systemd: TasksMax=, Docker: --pids-limit). Or use fewer --workers, or --engine node.',
  })
})
