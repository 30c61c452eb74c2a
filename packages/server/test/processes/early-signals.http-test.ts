import { beforeAll, describe, expect, test } from 'vitest'
import { replaceSignalListeners } from '../../src/serve/replace-signal-listeners.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { twoProcessFlags } from '../support/two-process-flags.ts'

let directory: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
})

describe('replaceSignalListeners', () => {
  test('loses no signal that has arrived but has not been emitted yet', async () => {
    const calls: string[] = []
    process.once('SIGHUP', () => calls.push('old'))
    const received = new Promise<void>((resolve) => {
      // The kernel delivers a process's signal to itself before `kill` returns. Node emits it in a later
      // turn.
      process.kill(process.pid, 'SIGHUP')
      replaceSignalListeners('SIGHUP', () => {
        calls.push('new')
        resolve()
      })
    })
    await received
    process.removeAllListeners('SIGHUP')
    expect(calls).toEqual(['new'])
  })
})

describe.skipIf(process.platform === 'win32')('a signal during the boot', () => {
  // Before the command adds its first listener, the kernel ends the process.
  const stop = `const { on, off } = process
    const stop = () => { if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM') }`
  const phases = {
    'as a listener is removed': `process.off = function (...given) { stop(); return off.apply(this, given) }`,
    'as a listener is added': `process.on = function (...given) { stop(); return on.apply(this, given) }`,
    'as the folder is read': `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; const { stat } = fs.promises
      fs.promises.stat = (...given) => { stop(); return stat(...given) }; syncBuiltinESMExports()`,
    'as workers start': `import cluster from 'node:cluster'; const { fork } = cluster
      cluster.fork = function (...given) { stop(); return fork.apply(this, given) }`,
  }

  test.each(
    Object.entries(phases)
      .flatMap(([phase, source]) => [[], ['--workers', '2']].map((flags) => ({ phase, source, flags })))
      // A primary process reads no folder.
      .filter(({ phase, flags }) =>
        flags.length > 0 ? phase !== 'as the folder is read' : phase !== 'as workers start',
      ),
  )('ends the command $phase, $flags', async ({ phase, source, flags }) => {
    const words = phase === 'as workers start' ? await twoProcessFlags() : ['--port', '0', ...flags]
    const preload = `${stop}; ${source}`
    const isOfPrimary = `if (process.env.SERVE_DIST_WORKER === undefined) await import(${JSON.stringify(dataUrl(preload))})`
    const command = spawnCommand([directory, ...words], {
      nodeOptions: ['--import', dataUrl(isOfPrimary)],
    })
    const { code } = await command.exited
    expect(code).toBe(143)
  })
})

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
