/** Uncompressed formats besides `text/*` and the suffixes below. */
const compressible = new Set([
  'application/ecmascript',
  'application/javascript',
  'application/json',
  'application/ndjson',
  'application/rtf',
  'application/sql',
  'application/toml',
  'application/vnd.apple.mpegurl',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/x-javascript',
  'application/x-ndjson',
  'application/x-tar',
  'application/x-yaml',
  'application/xml',
  'application/yaml',
  'font/collection',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/vnd.microsoft.icon',
  'image/x-icon',
  'model/gltf-binary',
  'model/obj',
  'model/stl',
])

/** The structured syntax suffixes of text formats (RFC 6839, RFC 9512 §2.3). */
const textSuffix = /\+(?:json|json-seq|text|xml|yaml)$/

/**
 * Returns whether content of this media type is usually worth compressing. The caller compares the compressed size.
 *
 * @param mediaType - with or without parameters, in any case (RFC 9110 §8.3.1).
 */
export function isCompressible(mediaType: string): boolean {
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase()
  return essence.startsWith('text/') || textSuffix.test(essence) || compressible.has(essence)
}
