import { describe, expect, test } from 'vitest'
import { oneOf, optionsFor, portNumber, readOptions } from './read-options.ts'

interface Options {
  readonly port: number
  readonly host: string
  readonly more?: string
  readonly inner?: object
}

const defaults: Options = { port: 80, host: 'localhost' }
const checks = {
  port: portNumber,
  host: oneOf('localhost', 'example.com'),
  more: oneOf('x', 'y', 'z'),
  inner: optionsFor((inner: object) => readOptions<{ port?: number }>(inner, {}, { port: portNumber })),
}

describe('readOptions', () => {
  test('puts given values in the place of defaults, but for undefined', () => {
    expect(readOptions(defaults, defaults, checks)).toEqual(defaults)
    expect(readOptions<Options>({ port: 0, host: undefined, more: 'x' }, defaults, checks)).toEqual({
      port: 0,
      host: 'localhost',
      more: 'x',
    })
  })

  test('lists every unknown option and every wrong value at once', () => {
    const given: object = { prot: 80, port: '80', host: 'h', more: 1, inner: { port: -1, deep: 1 } }
    const problems = [
      'port: expected a whole number from 0 to 65535, found "80"',
      'host: expected "localhost" or "example.com", found "h"',
      'prot: unknown option; known options: port, host, more, inner',
      'more: expected "x", "y" or "z", found 1',
      'inner.port: expected a whole number from 0 to 65535, found -1',
      'inner.deep: unknown option; known options: port',
    ]
    expect(() => readOptions<Options>(given, defaults, checks)).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', problems }),
    )
  })
})
