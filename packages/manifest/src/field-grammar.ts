// RFC 9110 §5.6.2.
const fieldName = /^[!#$%&'*+.^_`|~\w-]+$/
// RFC 9110 §5.5, without what each protocol writes in another way: octets beyond ASCII, white space at an end.
const fieldValue = /^(?:[\x21-\x7E](?:[\t\x20-\x7E]*[\x21-\x7E])?)?$/

/** Fields that say how a message is framed or what the build itself knows: nobody else may set them. */
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
 * Whether a text can be sent as the value of a field: the one rule for all that becomes a field, whoever wrote it.
 * Node throws at the request for what HTTP/1.1 cannot carry, and clients of HTTP/2 reset what it would mend.
 */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text)
}

/** Why nobody may set this field to this value, or `undefined` when it may be set. */
export function fieldProblem(name: string, value: string): string | undefined {
  if (!fieldName.test(name)) return `"${name}" is not the name of a field`
  if (ownFields.has(name.toLowerCase())) return `serve-dist sets the field ${name} itself`
  if (isFieldValue(value)) return undefined
  return `the value of ${name} has to be visible ASCII with spaces between; write other characters as escapes (RFC 8187)`
}
