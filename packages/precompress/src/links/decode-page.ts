/** The text of a page as a browser reads it that is told `charset=utf-8`: only a byte order mark outranks that. */
export function decodePage(bytes: Uint8Array): string {
  const [first, second] = bytes
  const utf16 =
    first === 0xff && second === 0xfe
      ? 'utf-16le'
      : first === 0xfe && second === 0xff
        ? 'utf-16be'
        : undefined
  return new TextDecoder(utf16 ?? 'utf-8').decode(bytes)
}
