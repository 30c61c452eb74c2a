import { mimes } from 'mrmime'

/** Media types that mrmime lacks, or that are unsuitable for browsers. */
const additions = new Map([
  ['cjs', 'text/javascript'],
  // The page data of React Router (turbo-stream), as its server sends it.
  ['data', 'text/x-script'],
  ['eot', 'application/vnd.ms-fontobject'],
  ['flac', 'audio/flac'],
  ['frag', 'text/plain'],
  ['glsl', 'text/plain'],
  ['ico', 'image/x-icon'],
  ['m3u8', 'application/vnd.apple.mpegurl'],
  ['tar', 'application/x-tar'],
  ['tgz', 'application/gzip'],
  ['vert', 'text/plain'],
  ['zst', 'application/zstd'],
])

/** Files with a fixed name without an extension. */
const names = new Map([['apple-app-site-association', 'application/json']])

/**
 * Returns the value of `Content-Type` for a file name, by default `application/octet-stream`. All `text/*` types have
 * `charset=utf-8`.
 */
export function mediaTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // A name that only starts with a dot, such as `.css`, has no extension.
  const extension = /.\.([^.]*)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const mediaType =
    names.get(name) ??
    additions.get(extension) ??
    // Ignores inherited properties, such as those of `x.constructor`.
    (Object.hasOwn(mimes, extension) ? mimes[extension] : undefined) ??
    'application/octet-stream'
  // JSON is UTF-8 and defines no charset (RFC 8259 §11). XML outside `text/*`, including SVG, declares its own
  // encoding.
  return mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType
}

/** Returns whether browsers show a file of this media type as a page. */
export function isPageType(mediaType: string): boolean {
  return mediaType.startsWith('text/html')
}

/** Returns whether browsers may run code in a file of this media type: a page, SVG or other XML. */
export function isDocumentType(mediaType: string): boolean {
  return isPageType(mediaType) || /^[^;]*[/+]xml *(?:;|$)/i.test(mediaType)
}
