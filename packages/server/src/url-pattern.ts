import { decodeWrittenPath } from './decode-written-path.ts'

/**
 * Whether a pattern of a `_headers` file matches a decoded path: `*` stands for any characters, slashes
 * among them, `:name` for one segment.
 */
export function matchesUrlPattern(pattern: string, path: string): boolean {
  return formOf(pattern).test(path)
}

function formOf(pattern: string): RegExp {
  const form = pattern
    .split(/(\*|:[A-Za-z]\w*)/)
    .map((part, index) => {
      if (index % 2 === 0) return decodeWrittenPath(part).replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
      return part === '*' ? '.*' : '[^/]+'
    })
    .join('')
  return new RegExp(`^${form}$`, 's')
}
