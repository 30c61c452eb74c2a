import type { ContentCoding } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { chooseLiveCoding, type LiveAnswer } from './live-coding.ts'

const page: LiveAnswer = {
  status: 200,
  acceptEncoding: 'gzip, br, zstd',
  mediaType: 'text/html; charset=utf-8',
  ifNoneMatch: undefined,
  entityTag: '"x"',
  contentLength: undefined,
  contentEncoding: undefined,
  contentRange: undefined,
  cacheControl: undefined,
}
const all: ReadonlySet<ContentCoding> = new Set(['zstd', 'br', 'gzip'])

describe('chooseLiveCoding', () => {
  test.each<[string, ContentCoding | undefined]>([
    ['gzip, br, zstd', 'zstd'],
    ['gzip, br', 'br'],
    ['x-gzip', 'gzip'],
    ['gzip;q=0.9, br;q=0.8', 'gzip'],
    ['br;q=0, *', 'zstd'],
    ['identity, br;q=0.5', undefined],
    ['deflate', undefined],
    ['', undefined],
  ])('chooses for %j %s', (acceptEncoding, coding) => {
    expect(chooseLiveCoding({ ...page, acceptEncoding }, all)).toEqual({
      varies: true,
      isWeak: coding !== undefined,
      coding,
    })
  })

  test('chooses only codings that this Node can encode', () => {
    expect(chooseLiveCoding(page, new Set(['br', 'gzip'] as const)).coding).toBe('br')
  })

  test.each<[string, Partial<LiveAnswer>]>([
    ['is encoded already', { contentEncoding: 'gzip' }],
    ['says that it is not encoded', { contentEncoding: 'identity' }],
    ['must not be transformed', { cacheControl: 'public, no-transform' }],
    ['has no content (204)', { status: 204 }],
    ['has not changed (304) and is a picture', { status: 304, mediaType: 'image/webp' }],
    ['is a range of a picture', { status: 206, mediaType: 'image/webp' }],
    ['has a Content-Range without status 206', { contentRange: 'bytes 0-1/2' }],
    ['is a picture', { mediaType: 'image/webp' }],
    ['has no type', { mediaType: undefined }],
  ])('does not change a response that %s', (_what, change) => {
    expect(chooseLiveCoding({ ...page, ...change }, all)).toEqual({
      varies: false,
      isWeak: false,
      coding: undefined,
    })
  })

  test('does not encode a small response, but sends Vary', () => {
    expect(chooseLiveCoding({ ...page, contentLength: 1023 }, all)).toEqual({
      varies: true,
      isWeak: false,
      coding: undefined,
    })
    expect(chooseLiveCoding({ ...page, contentLength: 1024 }, all).coding).toBe('zstd')
  })

  test.each<[string, Partial<LiveAnswer>, boolean]>([
    ['304 for a client with the encoded bytes', { status: 304, ifNoneMatch: 'W/"x"' }, true],
    ['304 for a client with the plain bytes', { status: 304, ifNoneMatch: '"y", "x"' }, false],
    ['304 without a type', { status: 304, mediaType: undefined }, true],
    ['304 for a client without Accept-Encoding', { status: 304, acceptEncoding: undefined }, false],
    ['304 of what is small', { status: 304, contentLength: 1000 }, false],
    ['206', { status: 206, contentRange: 'bytes 0-9/2000' }, true],
    ['206 of a small body', { status: 206, contentRange: 'bytes 0-9/1000' }, false],
    [
      '206 without Accept-Encoding',
      { status: 206, contentRange: 'bytes 0-9/2000', acceptEncoding: '' },
      false,
    ],
  ])('sends Vary with a %s and does not encode it', (_what, change, isWeak) => {
    expect(chooseLiveCoding({ ...page, ...change }, all)).toEqual({ varies: true, isWeak, coding: undefined })
  })

  test.each([
    ['application/json', true],
    ['application/problem+json; charset=utf-8', true],
    ['image/svg+xml', true],
    ['text/event-stream', true],
    ['application/wasm', true],
    ['TEXT/HTML', true],
    ['application/octet-stream', false],
    ['font/woff2', false],
    ['video/mp4', false],
  ])('decides whether %s is compressible: %s', (mediaType, varies) => {
    expect(chooseLiveCoding({ ...page, mediaType }, all).varies).toBe(varies)
  })
})
