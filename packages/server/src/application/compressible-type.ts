/** What compresses well though its type is not `text/*` (RFC 6839 has the suffixes). */
const compressible =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|javascript|x-javascript|ecmascript|x-ndjson|wasm|xhtml)|[\w.-]+\/[\w.-]+\+(?:json|xml|text)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf|collection))/i

/** Whether bodies of this media type are worth compressing on the fly; nobody knows without one. */
export function isCompressibleType(mediaType: string | undefined): boolean {
  return mediaType !== undefined && compressible.test(mediaType)
}
