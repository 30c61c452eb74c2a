import { OperatorError } from './operator-error.ts'
import { describe, expect, test } from 'vitest'
import { loadOptional } from './load-optional.ts'

const asked = { name: 'not-there', neededBy: 'the access log' }

function notFound(name: string): Error {
  return Object.assign(new Error(`Cannot find package '${name}' imported from /a/b.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
}

function notDeclared(name: string): Error {
  const message = `@serve-dist/server tried to access ${name} (a peer dependency) but it isn't provided by its ancestors

Required package: ${name} (via "${name}/package.json")
Required by: @serve-dist/server@npm:0.1.0`
  return Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' })
}

describe('loadOptional', () => {
  test('returns the module', async () => {
    expect(await loadOptional(asked, async () => 'module')).toBe('module')
  })

  test.each([notFound, notDeclared])(
    'names the command that installs a missing package (%s)',
    async (missing) => {
      const loaded = loadOptional(asked, () => Promise.reject(missing('not-there')))
      await expect(loaded).rejects.toThrow(OperatorError)
      await expect(loaded).rejects.toThrow(
        'the access log needs the package not-there, which is not installed. Run: npm install not-there',
      )
    },
  )

  test('rethrows other errors', async () => {
    for (const error of [notFound('another'), notDeclared('not-there-either'), new Error('broken')]) {
      await expect(loadOptional(asked, () => Promise.reject(error))).rejects.toBe(error)
    }
  })
})
