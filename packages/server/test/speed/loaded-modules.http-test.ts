import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { spawnCommand } from '../support/spawn-command.ts'

const files = { 'index.html': 'page' }

/** A module that records each script that the process loads afterwards. */
const tellScripts = `data:text/javascript,${encodeURIComponent(`
  import { Session } from 'node:inspector'
  import { writeSync } from 'node:fs'
  const session = new Session()
  session.connect()
  session.on('Debugger.scriptParsed', ({ params }) => writeSync(2, params.url + '\\n'))
  session.post('Debugger.enable')
`)}`

let built: string
let bare: string
beforeAll(async () => {
  built = await buildFixture(files)
  bare = await writeFixture(files)
})

/** Returns the scripts that were loaded when the command listened. */
async function loadedToServe(directory: string): Promise<string> {
  const nodeOptions = ['--import', tellScripts]
  const { child, listening, exited } = spawnCommand([directory, '--port', '0'], { nodeOptions })
  await listening
  child.kill('SIGTERM')
  return (await exited).stderr
}

describe('serving', () => {
  test('loads a few bundles, and no code for compression, reports or unused features', async () => {
    const loaded = await loadedToServe(built)
    const scripts = loaded.split('\n').filter((url) => url.startsWith('file:'))
    expect(scripts.map((url) => url.replace(/^.*\/(?:packages|node_modules)\//, '')).toSorted()).toEqual([
      'manifest/dist/index.js',
      'mrmime/index.mjs',
      'server/bin/serve-dist.js',
      'server/dist/chunks/rolldown-runtime.js',
      'server/dist/chunks/server.js',
      'server/dist/chunks/site.js',
      'server/dist/command/run-command.js',
    ])
  })

  test('loads the code that describes a folder only for a folder without a manifest', async () => {
    expect(await loadedToServe(bare)).toContain('/precompress/dist/compression/describe-directory.js')
  })
})
