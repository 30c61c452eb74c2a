// RFC 9110 §5.6.2.
const fieldName = /^[!#$%&'*+.^_`|~\w-]+$/
// RFC 9110 §5.5, without octets beyond ASCII and white space at the ends, which protocols encode differently.
const fieldValue = /^(?:[\x21-\x7E](?:[\t\x20-\x7E]*[\x21-\x7E])?)?$/

/** Fields that describe the message framing or that the build determines. Rules cannot set them. */
const ownFields: ReadonlySet<string> = new Set([
  'accept-ranges',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'date',
  'etag',
  'http2-settings',
  'keep-alive',
  'last-modified',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Returns whether a text is a valid field value. Node.js throws for values that HTTP/1.1 cannot carry, and HTTP/2
 * clients reset the stream.
 */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text)
}

/** Returns the problem of a field that a rule sets, or `undefined`. */
export function fieldProblem(name: string, value: string): string | undefined {
  if (!fieldName.test(name)) return `"${name}" is not the name of a field`
  if (ownFields.has(name.toLowerCase())) return `serve-dist sets the field ${name} itself`
  if (isFieldValue(value)) return undefined
  return `the value of ${name} must be visible ASCII with spaces inside. Escape other characters (RFC 8187).`
}
