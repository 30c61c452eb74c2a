/** Decodes a page as a browser does for `charset=utf-8`. Only a byte order mark has precedence. */
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
