// A block also ends at the end of the text (CSS Syntax 3 §5.4.8). A pattern that requires the brace would take
// quadratic time if many braces are missing.
const fontFace = /@font-face\s*\{([^}]*)/gi
const woff2 = /url\(\s*(?:"([^"]+\.woff2)"|'([^']+\.woff2)'|([^\s"'()]+\.woff2))\s*\)/i
const unicodeRange = /unicode-range\s*:([^;]*)/i
const range = /^u\+([\da-f]{0,6})(\?*)(?:-([\da-f]{1,6}))?$/i
const latinLetter = 0x41

/**
 * Returns the URLs of WOFF2 files in a stylesheet. Of a font that is split by alphabet, returns the Latin part only,
 * because the other parts depend on the page's text.
 */
export function fontsOfStyle(css: string): string[] {
  return [...css.matchAll(fontFace)].flatMap(([, declarations = '']) => {
    const found = woff2.exec(declarations)
    const url = found?.[1] ?? found?.[2] ?? found?.[3]
    return url === undefined || !hasLatin(declarations) ? [] : [url]
  })
}

function hasLatin(declarations: string): boolean {
  const ranges = unicodeRange.exec(declarations)?.[1]?.split(',')
  return ranges === undefined || ranges.some((text) => includesLatin(text.trim()))
}

/** Returns whether a range contains Latin letters (CSS Syntax §7: `U+41`, `U+0-FF`, `U+4??`). */
function includesLatin(text: string): boolean {
  const [, digits = '', wildcards = '', end] = range.exec(text) ?? []
  if (digits + wildcards === '') return false
  const first = Number.parseInt(digits + '0'.repeat(wildcards.length), 16)
  const last = Number.parseInt(end ?? digits + 'f'.repeat(wildcards.length), 16)
  return first <= latinLetter && latinLetter <= last
}
