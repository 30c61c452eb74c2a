import { mimes } from 'mrmime'

/** What mrmime lacks, or answers as a tool of the shell would and not as a browser needs it. */
const additions = new Map([
  ['cjs', 'text/javascript'],
  // React Router's data of a page (turbo-stream), as its server sends it.
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

/** Files that a client asks for by a fixed name without an extension. */
const names = new Map([['apple-app-site-association', 'application/json']])

/**
 * The value of `Content-Type` for a file of this name; `application/octet-stream` where the name says
 * nothing. All of `text/*` carries `charset=utf-8`.
 */
export function mediaTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  // A name that only begins with a dot, such as `.css`, has no extension.
  const extension = /.\.([^.]*)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const mediaType =
    names.get(name) ??
    additions.get(extension) ??
    // An own property only: `x.constructor` has no media type.
    (Object.hasOwn(mimes, extension) ? mimes[extension] : undefined) ??
    'application/octet-stream'
  // JSON is UTF-8 and defines no charset (RFC 8259 §11); XML outside `text/*`, SVG with it, names its own.
  return mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType
}

/** Whether browsers show a file of this media type as a page. */
export function isPageType(mediaType: string): boolean {
  return mediaType.startsWith('text/html')
}

/** Whether browsers may run what a file of this media type holds: a page, SVG or other XML. */
export function isDocumentType(mediaType: string): boolean {
  return isPageType(mediaType) || /^[^;]*[/+]xml *(?:;|$)/i.test(mediaType)
}
