import { describe, expect, test } from 'vitest'
import { parseS3Place } from './connect-s3.ts'

describe('parseS3Place', () => {
  test.each([
    ['s3://bucket', 'bucket', ''],
    ['s3://bucket/', 'bucket', ''],
    ['s3://my.bucket-1/site', 'my.bucket-1', 'site/'],
    ['s3://bucket/a/b c/'.replace(' ', '-'), 'bucket', 'a/b-c/'],
    ['S3://bucket/Site', 'bucket', 'Site/'],
  ])('parses %s', (where, bucket, prefix) => {
    expect(parseS3Place(where)).toEqual({ bucket, prefix })
  })

  test.each([
    's3:bucket',
    's3://',
    's3:///key',
    's3://b/../x',
    's3://bucket//a',
    's3://bucket/a//b',
    's3://bucket/a b',
    's3://bucket/./a',
    's3://bucket/a?x',
  ])('rejects %s', (where) => {
    expect(() => parseS3Place(where)).toThrow(`${where}: expected s3://bucket or s3://bucket/prefix`)
  })
})
