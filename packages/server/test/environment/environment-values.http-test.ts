import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnvironmentVariable } from '@serve-dist/manifest'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { readValues } from './read-values.ts'

const path = 'serve-dist-env.js'
const types: readonly EnvironmentVariable[] = [{ type: 'string' }, { type: 'json' }]
const [text, json] = types
const variables = { TEXT: text, JSON: json, constructor: text, ['__proto__']: text, hasOwnProperty: text }

let directory: string
let folder: string
beforeAll(async () => {
  directory = await buildFixture(
    { 'index.html': 'page', [path]: '' },
    { environment: { path, prefix: '', variables: JSON.parse(JSON.stringify(variables)) } },
  )
  folder = await temporaryDirectory()
})

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '</script>',
    '<!--',
    '\u2028\u2029',
    '"\'`${a}',
    '\\u0022\\',
    '\n#$',
    '__proto__',
    '\uFEFF',
    '\uFFFD',
  ),
)
/** Values that an environment can contain: no NUL. */
const settable = fc.array(hostile).map((pieces) => pieces.join('').replaceAll('\0', ''))
const jsonText = fc
  .dictionary(fc.oneof(hostile, fc.constant('__proto__')), fc.jsonValue())
  .map((value) => JSON.stringify(value))

/** A text of this size, made of the pieces that most likely cause faults. */
function large(bytes: number): string {
  const piece = '</script>\u2028 "#$ é\u{1F600}\\u0022\n\uFFFD'
  return piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)))
}

async function valuesOf(port: number): Promise<unknown> {
  const { body } = await rawRequest(port, { target: `/${path}` })
  return await readValues(body.toString())
}

describe('the application gets the exact value', () => {
  test('from the process environment', async () => {
    const names = ['TEXT', 'constructor', '__proto__', 'hasOwnProperty']
    const environments = fc.tuple(fc.tuple(settable, settable, settable, settable), jsonText)
    const run = async (texts: readonly string[], flags: string): Promise<void> => {
      const given = [...names.map((name, index) => [name, texts[index] ?? '']), ['JSON', flags]]
      const { child, listening, exited } = spawnCommand([directory, '--port', '0'], {
        env: Object.fromEntries(given),
      })
      const { port } = await listening
      const found = Object(await valuesOf(port))
      child.kill('SIGTERM')
      expect((await exited).stderr).toBe('')
      expect(names.map((name) => (Object.hasOwn(found, name) ? found[name] : undefined))).toEqual(texts)
      expect(JSON.stringify(found.JSON)).toBe(JSON.stringify(JSON.parse(flags)))
      expect(Object.isFrozen(found)).toBe(true)
    }
    await fc.assert(
      fc.asyncProperty(environments, ([texts, flags]) => run(texts, flags)),
      { numRuns: 15 },
    )
    await run([large(100_000), 'a', 'b', 'c'], JSON.stringify({ a: large(90_000) }))
  })

  test('from a file', async () => {
    const file = join(folder, 'stage.env')
    const run = async (value: string, flags: string): Promise<void> => {
      await writeFile(file, `constructor=${quote(value)}\nTEXT=${quote(value)}\nJSON=${quote(flags)}\n`)
      const server = await startServer(directory, { site: { environment: {}, envFile: file } })
      const found = Object(await valuesOf(server.port))
      await server.close()
      expect([found.TEXT, found.constructor]).toEqual([value, value])
      expect(JSON.stringify(found.JSON)).toBe(JSON.stringify(JSON.parse(flags)))
    }
    await fc.assert(fc.asyncProperty(settable.map(writable), jsonText.map(writable), run), { numRuns: 50 })
    await run(large(1_000_000), JSON.stringify({ a: large(1_000_000) }))
  })
})

/** Removes what Node's file format cannot express: carriage returns and the quote character. */
function writable(value: string): string {
  return value.replaceAll(/[\r'\0]/g, '')
}

function quote(value: string): string {
  return `'${value}'`
}
