import { describe, expect, test } from 'vitest'
import { resolveServeDistOptions } from '../serve-dist-options.ts'

describe('readEnvironmentOptions', () => {
  test('adds the defaults, and has no environment without "env"', () => {
    expect(resolveServeDistOptions({ env: { NAME: {} } }).environment).toEqual({
      environment: { path: 'serve-dist-env.js', prefix: '', variables: { NAME: { type: 'string' } } },
      types: undefined,
    })
    expect(resolveServeDistOptions({ envPrefix: 'APP_' }).environment).toBeUndefined()
  })

  test('reports all problems at once, with place and nearest name', () => {
    const wrong: object = {
      env: {
        'API-URL': {},
        LIMIT: { type: 'nubmer' },
        RELEASE: { required: true, default: 'dev' },
        SIZE: { type: 'number', defualt: 1 },
        FLAG: true,
        ITEMS: { type: 'json', default: new Map([[1, 2]]) },
      },
      envPrefix: '9',
      envFileName: '../env.js',
      envTypes: 'env.ts',
    }
    let message = ''
    try {
      resolveServeDistOptions(wrong)
    } catch (error) {
      message = String(error)
    }
    expect(message.split('\n').map((line) => line.trim())).toEqual([
      'OperatorError: serveDist option env["API-URL"]: expected a name of letters, digits and "_" that does not start with a digit',
      'serveDist option env.LIMIT.type: expected one of "string", "number", "boolean", "json", found "nubmer"',
      'serveDist option env.RELEASE.default: a required variable cannot have a default. Remove one of the two.',
      'serveDist option env.SIZE.defualt: unknown field. Did you mean "default"?',
      'serveDist option env.FLAG: expected an object such as { "type": "string", "required": true }, found true',
      'serveDist option env.ITEMS.default: expected a value that JSON can represent, found {}',
      'serveDist option envPrefix: expected a prefix of names, such as "APP_", found "9"',
      'serveDist option envFileName: expected a file name such as "serve-dist-env.js", found "../env.js"',
      'serveDist option envTypes: expected false or a path such as "src/serve-dist-env.d.ts", found "env.ts"',
    ])
  })
})
