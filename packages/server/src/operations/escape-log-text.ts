/** Characters of a target, a referer or a user agent that are logged; a client may send 16 KiB of each. */
const longest = 1024

// oxlint-disable-next-line no-control-regex -- what is looked for
const controls = /[\u0000-\u001F\u007F-\u009F]/g
const beyondQuotedAscii = /[^\u0020-\u007E]|["\\]/g

/** A text of a client's for a log in JSON, which escapes for itself what it must: no control characters, not too long. */
export function escapeControls(text: string): string {
  return clip(text).replace(controls, toEscape)
}

/** A text of a client's between quotes, as Apache writes it: `\"`, `\\`, and `\xhh` for all beyond ASCII. */
export function escapeQuoted(text: string): string {
  return clip(text).replace(beyondQuotedAscii, toEscape)
}

function clip(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}...` : text
}

function toEscape(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
