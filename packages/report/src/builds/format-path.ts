const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A path as people should see it: characters that would reorder or hide the text around them are escaped. */
export function formatPath(path: string): string {
  return path.replaceAll(invisible, (character) => {
    return String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}
