/** A part of a file's path that may be a content hash: whole words of `A-Z a-z 0-9 _ -`. */
export interface HashToken {
  readonly text: string
  readonly start: number
}

const shortestHash = 6
/** SHA-256 in hexadecimal; nobody writes a longer one. */
const longestHash = 64

const word = /[\w-]+/g
const letterOrDigit = /[0-9A-Za-z]/

/**
 * Every part of a path that may be a hash. It begins and ends at the edge of a word, and as `-` and `_` are
 * both separators and letters of a hash, parts may hold others: `a-b12-c3d4` has four.
 */
export function hashTokensOf(path: string): HashToken[] {
  const tokens: HashToken[] = []
  for (const { 0: run, index } of path.matchAll(word)) {
    const { starts, ends } = edgesOf(run)
    for (const start of starts) {
      for (const end of ends) {
        const length = end - start
        if (length < shortestHash || length > longestHash) continue
        tokens.push({ text: run.slice(start, end), start: index + start })
      }
    }
  }
  return tokens
}

/** The path with one token replaced. */
export function maskToken(path: string, { text, start }: HashToken): string {
  return `${path.slice(0, start)}HASH${path.slice(start + text.length)}`
}

/** Where a hash may begin (at the run's start or after a separator) and end. */
function edgesOf(run: string): { starts: number[]; ends: number[] } {
  const starts = [0]
  const ends = [run.length]
  for (let index = 0; index < run.length; index += 1) {
    if (letterOrDigit.test(run.charAt(index))) continue
    starts.push(index + 1)
    ends.push(index)
  }
  return { starts, ends }
}
