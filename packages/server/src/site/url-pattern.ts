import { decodeWrittenPath } from './decode-written-path.ts'

/**
 * The form of the decoded paths that a pattern of a `_headers` file matches: `*` stands for any characters,
 * slashes among them, `:name` for one segment. Made once for all paths: it takes longer than a match.
 */
export function compileUrlPattern(pattern: string): RegExp {
  const form = pattern
    .split(/(\*|:[A-Za-z]\w*)/)
    .map((part, index) => {
      if (index % 2 === 0) return decodeWrittenPath(part).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
      return part === '*' ? '.*' : '[^/]+'
    })
    .join('')
  return new RegExp(`^${form}$`, 's')
}
