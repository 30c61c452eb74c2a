/** Characters that control a terminal (C0, DEL, C1), end a line, are invisible or change the text direction. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes characters that control a terminal or are invisible, for output in one line. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisible, (character) => {
    return String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}

/** Escapes a message, but keeps its line feeds and tabs. */
export function escapeMessage(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeInvisible)
}
