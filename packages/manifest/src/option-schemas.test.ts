import { describe, expect, test } from 'vitest'
import { optionsOf, portNumber, readOptions } from './option-schemas.ts'
import { oneOf, optional, withDefault } from './schema.ts'

interface Options {
  readonly port: number
  readonly host: string
  readonly more?: string
  readonly inner?: { readonly port?: number }
}

const schema = optionsOf<Options>({
  port: withDefault(portNumber, () => 80),
  host: withDefault(oneOf(['localhost', 'example.com']), () => 'localhost'),
  more: optional(oneOf(['x', 'y', 'z'])),
  inner: optional(optionsOf<{ readonly port?: number }>({ port: optional(portNumber) })),
})

describe('readOptions', () => {
  test('replaces defaults by given values, except for undefined', () => {
    expect(readOptions(schema, {})).toStrictEqual({ port: 80, host: 'localhost' })
    const given = { port: 0, host: undefined, more: 'x', inner: { port: undefined } }
    expect(readOptions(schema, given)).toStrictEqual({ port: 0, host: 'localhost', more: 'x', inner: {} })
  })

  test('lists every unknown option and every invalid value', () => {
    const given = { prot: 80, port: '80', host: 'h', more: 1, inner: { port: -1, deep: 1 } }
    const problems = [
      'port: expected a whole number from 0 to 65535, found "80"',
      'host: expected one of "localhost", "example.com", found "h"',
      'more: expected one of "x", "y", "z", found 1',
      'inner.port: expected a whole number from 0 to 65535, found -1',
      'inner.deep: unknown option. Valid options: port.',
      'prot: unknown option. Did you mean "port"?',
    ]
    expect(() => readOptions(schema, given)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', problems }),
    )
  })

  test.each([5, null, ['a'], 'text'])('rejects %j instead of an object', (given) => {
    const found = JSON.stringify(given)
    expect(() => readOptions(schema, given)).toThrow(`options: expected an object, found ${found}`)
    expect(() => readOptions(schema, { inner: given })).toThrow(`inner: expected an object, found ${found}`)
  })
})
