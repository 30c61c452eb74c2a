import { describe, expect, test } from 'vitest'
import { withDefaults } from './with-defaults.ts'

const defaults = { port: 80, host: 'localhost' }

describe('withDefaults', () => {
  test('puts what is given in the place of a default, but for undefined', () => {
    expect(withDefaults(defaults, { port: 0, host: undefined })).toEqual({ port: 0, host: 'localhost' })
  })

  test('lets options be that have no default', () => {
    expect(withDefaults<typeof defaults & { more?: string }>(defaults, { more: 'x' }, ['more'])).toEqual({
      ...defaults,
      more: 'x',
    })
  })

  test('names an option that there is not', () => {
    const given: object = { prot: 80 }
    expect(() => withDefaults(defaults, given)).toThrow(
      expect.objectContaining({
        code: 'SD_OPTION_INVALID',
        message: 'prot: unknown option; known options: port, host',
      }),
    )
  })
})
