import { describe, expect, test } from 'vitest'
import { checkOperationsOptions } from './operations-options.ts'

describe('checkOperationsOptions', () => {
  test.each([
    [{ metrics: true }, 'metrics: unknown option. Valid options: accessLog, ops'],
    [{ accessLog: 'xml' }, 'accessLog: expected one of "json", "common", found "xml"'],
    [{ trustProxy: 'everybody' }, 'trustProxy: expected a number of proxies'],
  ])('rejects %j', (options, problem) => {
    expect(() => Reflect.apply(checkOperationsOptions, undefined, [options])).toThrow(problem)
  })

  test('accepts valid options', () => {
    const options = { accessLog: 'json', trustProxy: 1 } as const
    expect(checkOperationsOptions(options)).toEqual(options)
  })
})
