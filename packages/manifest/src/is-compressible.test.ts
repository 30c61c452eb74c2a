import { describe, expect, test } from 'vitest'
import { isCompressible } from './is-compressible.ts'
import { mediaTypeOf } from './media-type-of.ts'

describe('isCompressible', () => {
  test.each(
    'js mjs css html json svg xml txt map wasm webmanifest ttf otf eot ico bmp md csv rss geojson'.split(' '),
  )('is true for .%s', (extension) => {
    expect(isCompressible(mediaTypeOf(`a.${extension}`))).toBe(true)
  })

  test.each('woff woff2 png jpg gif webp avif mp4 webm mp3 zip gz zst br pdf bin'.split(' '))(
    'is false for .%s',
    (extension) => {
      expect(isCompressible(mediaTypeOf(`a.${extension}`))).toBe(false)
    },
  )

  test.each([
    'TEXT/HTML; charset=utf-8',
    'Application/JSON',
    'application/json ; charset=utf-8',
    'application/x-ndjson',
    'application/yaml',
    'application/javascript',
    'application/problem+json',
    'application/geo+json-seq',
    'application/toml',
    'model/gltf-binary',
    'image/svg+xml',
  ])('is true for %s', (mediaType) => {
    expect(isCompressible(mediaType)).toBe(true)
  })

  test.each(['', 'application/octet-stream', 'image/png', 'font/woff2', 'application/xmlx', 'video/mp4'])(
    'is false for "%s"',
    (mediaType) => {
      expect(isCompressible(mediaType)).toBe(false)
    },
  )
})
