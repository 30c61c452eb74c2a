import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from './open-store.ts'

describe('openStore', () => {
  test.each(['', 'gs://bucket/site', 'https://bucket.example/site', 'file:///srv/store'])(
    'does not take %j for the name of a folder',
    async (where) => {
      await expect(openStore(where)).rejects.toMatchObject({
        code: 'SD_OPTION_INVALID',
        message: `${JSON.stringify(where)}: expected the path of a folder, or s3://bucket/prefix`,
      })
    },
  )

  test('accepts a trailing slash and a relative path', async () => {
    expect((await openStore('/srv/store/')).place).toBe('/srv/store')
    expect((await openStore('store')).place).toBe(resolve('store'))
  })
})
