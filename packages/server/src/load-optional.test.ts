import { OperatorError } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { loadOptional } from './load-optional.ts'

const asked = { name: 'not-there', neededBy: 'the access log' }

function notFound(name: string): Error {
  return Object.assign(new Error(`Cannot find package '${name}' imported from /a/b.js`), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
}

describe('loadOptional', () => {
  test('answers with the module', async () => {
    expect(await loadOptional(asked, async () => 'module')).toBe('module')
  })

  test('says how to install what is not there', async () => {
    const loaded = loadOptional(asked, () => Promise.reject(notFound('not-there')))
    await expect(loaded).rejects.toThrow(OperatorError)
    await expect(loaded).rejects.toThrow(
      'the access log needs the package not-there, which is not installed: npm install not-there',
    )
  })

  test('leaves other errors as they are', async () => {
    for (const error of [notFound('another'), new Error('broken')]) {
      await expect(loadOptional(asked, () => Promise.reject(error))).rejects.toBe(error)
    }
  })
})
