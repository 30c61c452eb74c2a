/** Scripts with nothing in them, such as those that Vite writes: they run a file, or not at all. */
const emptyScripts = /<script(?:\s+[a-z-]+(?:="[^"<>]*")?)*\s*><\/script>/gi
const inline = /\bstyle\b|[\s"'/]on[a-z]{3,}|srcdoc/i

/** Whether a page may hold something inline: where it does not, nobody parses it. Only UTF-16 needs to be decoded for that. */
export function mayNeedPolicy(bytes: Buffer): boolean {
  if (bytes[0] === 0xff || bytes[0] === 0xfe) return true
  const text = bytes.toString('latin1')
  return inline.test(text) || /<script/i.test(text.replaceAll(emptyScripts, ''))
}
