/** Beside `text/*`, `*+json` and `*+xml`: formats that bring no compression of their own. */
const compressible = new Set([
  'application/json',
  'application/rtf',
  'application/sql',
  'application/toml',
  'application/vnd.apple.mpegurl',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/x-tar',
  'application/xml',
  'font/collection',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/x-icon',
  'model/gltf-binary',
  'model/obj',
  'model/stl',
])

/** Whether files of this media type are worth an attempt; what it brings is measured afterwards. */
export function isCompressible(mediaType: string): boolean {
  const [essence = ''] = mediaType.split(';')
  return essence.startsWith('text/') || /\+(?:json|xml)$/.test(essence) || compressible.has(essence)
}
