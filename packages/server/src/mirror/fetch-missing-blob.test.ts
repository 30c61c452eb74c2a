import { describe, expect, test } from 'vitest'
import { fetchMissingBlob } from './fetch-missing-blob.ts'

const stored = { sha256: 'ab', size: 2, body: undefined, file: '/cache/ab', fingerprint: '', changeTime: '' }

describe('fetchMissingBlob', () => {
  test('stops waiting for a silent store', async () => {
    const bringing = fetchMissingBlob(stored, () => new Promise(() => {}), 20)
    await expect(bringing).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('did not send the file within 0.02 seconds'),
    })
  })

  test('reports a blob that the store lacks', async () => {
    await expect(fetchMissingBlob(stored, async () => 'missing')).rejects.toMatchObject({ status: 404 })
  })
})
