import type { ManifestFile } from '@serve-dist/manifest'
import { type FilePair, pairNearestSizes } from './pair-nearest-sizes.ts'

/** Two files that are one but for the hash in their names. */
export interface HashedPair extends FilePair {
  /** The path with the hash replaced: `assets/index-HASH.js`. */
  readonly name: string
}

/** Vite's and esbuild's: tried first where names speak for others too, which may be parts of a hash. */
const usualLength = 8
const shortestHash = 6
/** SHA-256 in hexadecimal; nobody writes a longer one. */
const longestHash = 64

/**
 * Finds the files whose names differ in a content hash and in nothing else, without knowing how long the
 * bundler's hashes are or where they stand. Of the parts of a name that only one of the builds has, the
 * hashes are those whose length most names share; names that are equal once such a part is replaced
 * belong together, the nearest in size first where several do.
 *
 * @param before - Files of the earlier build with a hash in their names, none of which the later one has.
 * @param after - The same of the later build.
 */
export function matchHashedFiles(
  before: readonly ManifestFile[],
  after: readonly ManifestFile[],
): HashedPair[] {
  const pairs: HashedPair[] = []
  const known: number[] = []
  const tried = new Set<number>()
  let rest = { before: findTokens(before, after), after: findTokens(after, before) }
  for (;;) {
    const length = likeliestLength(rest.before, rest.after, tried)
    if (length === undefined) return pairs
    const found = matchAtLength(rest.before, rest.after, { length, known })
    // The first length tried is the best that is known of this build, whether or not it finds anything.
    if (found.length > 0 || known.length === 0) known.push(length)
    for (const pair of found) pairs.push(pair)
    tried.add(length)
    const taken = new Set(found.flatMap((pair) => [pair.before, pair.after]))
    rest = {
      before: rest.before.filter(({ file }) => !taken.has(file)),
      after: rest.after.filter(({ file }) => !taken.has(file)),
    }
  }
}

/** A part of a file's path that may be a content hash: whole words of `A-Z a-z 0-9 _ -`. */
interface HashToken {
  readonly text: string
  readonly start: number
}

interface Candidate {
  readonly file: ManifestFile
  readonly tokens: readonly HashToken[]
}

/** A hash has changed, so what the other build's names hold too (a folder, a word) is none. */
function findTokens(files: readonly ManifestFile[], others: readonly ManifestFile[]): Candidate[] {
  const shared = new Set(others.flatMap(({ path }) => hashTokensOf(path).map(({ text }) => text)))
  return files.map((file) => ({
    file,
    tokens: hashTokensOf(file.path).filter(({ text }) => !shared.has(text)),
  }))
}

function likeliestLength(
  before: readonly Candidate[],
  after: readonly Candidate[],
  tried: ReadonlySet<number>,
): number | undefined {
  const votesBefore = countLengths(before)
  const votesAfter = countLengths(after)
  const lengths = [...votesBefore.keys()].filter((length) => votesAfter.has(length) && !tried.has(length))
  const votes = (length: number): number =>
    Math.min(votesBefore.get(length) ?? 0, votesAfter.get(length) ?? 0)
  return lengths.toSorted(
    (a, b) => votes(b) - votes(a) || Number(b === usualLength) - Number(a === usualLength) || a - b,
  )[0]
}

function countLengths(candidates: readonly Candidate[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { tokens } of candidates) {
    for (const length of new Set(tokens.map(({ text }) => text.length))) {
      counts.set(length, (counts.get(length) ?? 0) + 1)
    }
  }
  return counts
}

function matchAtLength(
  before: readonly Candidate[],
  after: readonly Candidate[],
  lengths: { readonly length: number; readonly known: readonly number[] },
): HashedPair[] {
  const pairs: HashedPair[] = []
  const namesBefore = groupByName(before, lengths)
  const taken = new Set<ManifestFile>()
  for (const [name, filesAfter] of groupByName(after, lengths)) {
    const isFree = (file: ManifestFile): boolean => !taken.has(file)
    const filesBefore = namesBefore.get(name) ?? []
    for (const pair of pairNearestSizes(filesBefore.filter(isFree), filesAfter.filter(isFree))) {
      taken.add(pair.before).add(pair.after)
      pairs.push({ ...pair, name })
    }
  }
  return pairs
}

function groupByName(
  candidates: readonly Candidate[],
  { length, known }: { readonly length: number; readonly known: readonly number[] },
): Map<string, ManifestFile[]> {
  const groups = new Map<string, ManifestFile[]>()
  for (const { file, tokens } of candidates) {
    for (const token of tokens) {
      if (token.text.length !== length || endsInHash(token, tokens, known)) continue
      const name = maskToken(file.path, token)
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [file])
      else group.push(file)
    }
  }
  return groups
}

/** `primary-DiwrgTda` is no hash of sixteen where hashes have eight: it is a word and a hash. */
function endsInHash(token: HashToken, tokens: readonly HashToken[], known: readonly number[]): boolean {
  return tokens.some(
    ({ text, start }) =>
      text.length < token.text.length &&
      known.includes(text.length) &&
      (start === token.start || start + text.length === token.start + token.text.length),
  )
}

/**
 * Every part of a path that may be a hash. It begins and ends at the edge of a word, and as `-` and `_` are
 * both separators and letters of a hash, parts may hold others: `a-b12-c3d4` has four.
 */
function hashTokensOf(path: string): HashToken[] {
  const tokens: HashToken[] = []
  for (const { 0: run, index } of path.matchAll(/[\w-]+/g)) {
    const separators = Array.from(run.matchAll(/[-_]/g), (separator) => separator.index)
    for (const start of [0, ...separators.map((separator) => separator + 1)]) {
      for (const end of [run.length, ...separators]) {
        const length = end - start
        if (length < shortestHash || length > longestHash) continue
        tokens.push({ text: run.slice(start, end), start: index + start })
      }
    }
  }
  return tokens
}

/** The path with one token replaced. */
function maskToken(path: string, { text, start }: HashToken): string {
  return `${path.slice(0, start)}HASH${path.slice(start + text.length)}`
}
