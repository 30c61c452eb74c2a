import { fstatSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { expect, test } from 'vitest'
import { listenNatively } from './listen-natively.ts'

test('listenNatively leaves a descriptor that it was given to the engine alone', async () => {
  const descriptor = openSync(devNull, 'r')
  const engine = { listen: () => ({ address: '127.0.0.1', port: 80 }) }
  const origin = await listenNatively({ engine, scheme: 'http' }, { descriptor })
  expect(origin).toBe('http://127.0.0.1:80')
  expect(() => fstatSync(descriptor)).toThrow('EBADF')
})

test('listenNatively names threads that the system does not allow, and not the port', async () => {
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
      'the native engine cannot start its threads: the system allows no more of them; raise its limit (ulimit -u, systemd: TasksMax=, Docker: --pids-limit), ask for fewer with --workers, or take --engine node',
  })
})
