import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from './open-store.ts'

describe('openStore', () => {
  test.each(['', 'gs://bucket/site', 'https://bucket.example/site', 'file:///srv/store'])(
    'makes no folder of the name %j',
    async (where) => {
      await expect(openStore(where)).rejects.toMatchObject({
        code: 'SD_OPTION_INVALID',
        message: `${JSON.stringify(where)}: expected the path of a folder, or s3://bucket/prefix`,
      })
    },
  )

  test('takes a slash at the end, and a path from the working folder', async () => {
    expect((await openStore('/srv/store/')).place).toBe('/srv/store')
    expect((await openStore('store')).place).toBe(resolve('store'))
  })
})
