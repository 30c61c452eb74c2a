/** Scripts without content, such as those that Vite writes. */
const emptyScripts = /<script(?:\s+[a-z-]+(?:="[^"<>]*")?)*\s*><\/script>/gi
const inline = /\bstyle\b|[\s"'/]on[a-z]{3,}|srcdoc/i

/** Returns whether a page may have inline content, so that other pages need no parser. Only UTF-16 pages always do. */
export function mayNeedPolicy(bytes: Buffer): boolean {
  if (bytes[0] === 0xff || bytes[0] === 0xfe) return true
  const text = bytes.toString('latin1')
  return inline.test(text) || /<script/i.test(text.replaceAll(emptyScripts, ''))
}
