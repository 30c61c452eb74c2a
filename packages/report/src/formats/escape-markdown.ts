import { formatPath } from '../builds/format-path.ts'

/** Punctuation that never means anything in the middle of a line of Markdown. */
const special = /[^\p{L}\p{N} /.,;()%+='-]/gu
const linkLike = /(?<=www)\./gi

/** Text that GitHub's Markdown shows as it is, whatever stands in it. */
export function escapeMarkdown(text: string): string {
  return formatPath(text).replaceAll(special, toReference).replaceAll(linkLike, '&#46;')
}

/** A name in the fixed-width type, in which GitHub neither links nor notifies anybody. */
export function markdownCode(text: string): string {
  return `<code>${escapeMarkdown(text)}</code>`
}

function toReference(character: string): string {
  return `&#${character.codePointAt(0) ?? 0};`
}
