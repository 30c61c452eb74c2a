import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  environmentDefaults,
  environmentModule,
  type EnvironmentVariable,
  isSecretName,
  readEnvironment,
} from './runtime-environment.ts'

const variables: Readonly<Record<string, EnvironmentVariable>> = {
  API_URL: { type: 'string', required: true },
  RELEASE: { type: 'string', default: 'dev' },
  LIMIT: { type: 'number', default: 10 },
  DEBUG: { type: 'boolean' },
  FLAGS: { type: 'json' },
}

describe('readEnvironment', () => {
  test('converts each value to its type', () => {
    const source = {
      API_URL: 'https://a.example',
      LIMIT: '2.5',
      DEBUG: '1',
      FLAGS: '{"a":[1]}',
      PATH: '/bin',
    }
    expect(readEnvironment({ prefix: '', variables }, source)).toEqual({
      values: { API_URL: 'https://a.example', RELEASE: 'dev', LIMIT: 2.5, DEBUG: true, FLAGS: { a: [1] } },
      problems: [],
    })
  })

  test('names all invalid variables without their texts', () => {
    const source = { APP_API_URL: '', APP_LIMIT: 'ten', APP_DEBUG: 'on', APP_FLAGS: '{hidden' }
    expect(readEnvironment({ prefix: 'APP_', variables }, source).problems).toEqual([
      'APP_API_URL: the build requires this environment variable, and it is empty',
      'APP_LIMIT: expected a number such as 10 or 0.5',
      'APP_DEBUG: expected true, false, 1 or 0',
      'APP_FLAGS: expected JSON',
    ])
  })

  test('treats an empty text as not set, except for strings', () => {
    const source = { API_URL: 'x', RELEASE: '', LIMIT: '', DEBUG: '', FLAGS: '' }
    expect(readEnvironment({ prefix: '', variables }, source).values).toEqual({
      API_URL: 'x',
      RELEASE: '',
      LIMIT: 10,
    })
  })

  test.each(['Infinity', '0x10', ' 1', '1_000', 'NaN', '1e999', '.'])('rejects %j as a number', (text) => {
    const given = { LIMIT: { type: 'number' } } as const
    expect(readEnvironment({ prefix: '', variables: given }, { LIMIT: text }).problems).toHaveLength(1)
  })

  test('ignores inherited properties of the source', () => {
    const given = {
      constructor: { type: 'string' },
      ['__proto__']: { type: 'string', default: 'x' },
    } as const
    const { values } = readEnvironment({ prefix: '', variables: given }, {})
    expect(Object.entries(values)).toEqual([['__proto__', 'x']])
  })
})

const tooMuch = 'FLAGS: expected JSON of at most 1000 levels and of finite numbers'

test.each([
  ['['.repeat(1000) + ']'.repeat(1000), []],
  [`{"a[[":${'['.repeat(1000)}${']'.repeat(1000)}}`, [tooMuch]],
  ['['.repeat(100_000) + ']'.repeat(100_000), [tooMuch]],
  [JSON.stringify('["\\"'.repeat(2000)), []],
  ['{"most":[1e999]}', [tooMuch]],
])('readEnvironment accepts JSON that can be serialized again: %#', (text, problems) => {
  const read = readEnvironment({ prefix: '', variables: { FLAGS: { type: 'json' } } }, { FLAGS: text })
  expect(read.problems).toEqual(problems)
  expect(() => environmentModule(read.values)).not.toThrow()
})

describe('environmentModule', () => {
  test('exports the given values', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '</script>',
        '\u2028\u2029',
        '"\'`${a}',
        '\\u0022',
        '__proto__',
        '\uFEFF',
        '*/',
        '<!--',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.dictionary(text, fc.oneof(text, fc.jsonValue())), async (values) => {
        const plain = JSON.parse(JSON.stringify(values))
        const module = environmentModule(values)
        expect(module).not.toMatch(/[<\u2028\u2029]/)
        expect(await evaluate(module)).toEqual(plain)
      }),
    )
  })
})

async function evaluate(text: string): Promise<unknown> {
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  return Reflect.get(Object(module), 'default')
}

test('environmentDefaults contains only variables with a default', () => {
  expect(environmentDefaults({ variables })).toEqual({ RELEASE: 'dev', LIMIT: 10 })
})

test.each([
  ['API_SECRET', true],
  ['STRIPE_KEY', true],
  ['token', true],
  ['KEYBOARD', false],
  ['TOKEN_URL', false],
])('isSecretName(%j) is %s', (name, expected) => {
  expect(isSecretName(name)).toBe(expected)
})
