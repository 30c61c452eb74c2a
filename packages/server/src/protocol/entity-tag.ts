// RFC 9110 §8.8.3: %x21 / %x23-7E / obs-text in quotes; commas are valid in a tag.
const listedTag = /[ \t,]*((?:W\/)?"[\x21\x23-\x7E\x80-\u{FFFF}]*")[ \t]*(?=,|$)/uy

/** Returns a strong entity tag with its quotes: the first 128 bits of a SHA-256 in base64url. */
export function entityTagOf(sha256: string): string {
  tagBits.write(sha256, 0, tagBits.length, 'hex')
  return `"${tagBits.toString('base64url')}"`
}

/** One shared buffer, because a build of 10,000 files has 40,000 tags. */
const tagBits = Buffer.alloc(16)

/**
 * Compares our tag weakly (RFC 9110 §8.8.3.2) with a field such as `If-None-Match`: a list of tags, or `*`.
 */
export function matchesWeakly(field: string, entityTag: string): boolean {
  if (field === entityTag || field === '*') return true
  const ours = opaqueTag(entityTag)
  return listedTags(field).some((tag) => opaqueTag(tag) === ours)
}

/** Compares our tag strongly with a field such as `If-Match`: weak tags never match, `*` always does. */
export function matchesStrongly(field: string, entityTag: string): boolean {
  if (field === '*') return true
  return isStrong(entityTag) && (field === entityTag || listedTags(field).includes(entityTag))
}

/** Returns whether equal tags mean equal bytes. */
export function isStrong(entityTag: string): boolean {
  return !entityTag.startsWith('W/')
}

function opaqueTag(entityTag: string): string {
  return isStrong(entityTag) ? entityTag : entityTag.slice(2)
}

/** Returns the tags of a list up to the first malformed text. */
function listedTags(field: string): string[] {
  const tags: string[] = []
  listedTag.lastIndex = 0
  for (let match = listedTag.exec(field); match !== null; match = listedTag.exec(field)) {
    if (match[1] !== undefined) tags.push(match[1])
  }
  return tags
}
