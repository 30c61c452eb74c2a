import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { buildId, byteCount, date, mark, servablePath, sha256, stem, variants } from './document-schemas.ts'
import { isCarried } from './is-carried.ts'
import type { ManifestFile } from './manifest.ts'
import { OperatorError } from './operator-error.ts'
import { parseJson } from './parse-manifest.ts'
import * as s from './schema.ts'
import { variantPath } from './variant-path.ts'

/** The hashed files that a server answers. In a folder, the files that `serve-dist carry` added. */
export interface KeptList {
  readonly version: 1
  /** The builds, the newest first. Each path occurs once. */
  readonly builds: readonly ListedBuild[]
}

/** A build with the files that pages of other builds lack. */
export interface ListedBuild {
  readonly id: string
  /** The time at which another build replaced it: ISO 8601, UTC. Absent for the current build. */
  readonly superseded?: string
  readonly files: readonly ListedFile[]
}

/** A hashed file of an earlier build. */
export type ListedFile = Pick<ManifestFile, 'path' | 'stem' | 'size' | 'sha256' | 'worker' | 'variants'>

/** The maximum number of objects, lists and fields, because each takes memory. A file has 20 at most. */
export const mostListParts = 240_000

/** The maximum length of a path in bytes, as in Linux. A server rejects requests with much longer paths. */
const longestPath = 4096

const keptList = s.firstProblemOf(
  s.objectOf<KeptList>({
    version: s.oneOf([1]),
    builds: s.listOf(
      s.objectOf<ListedBuild>({
        id: buildId,
        superseded: s.optional(date),
        files: s.listOf(
          s.objectOf<ListedFile>({
            path: s.checked(servablePath, (path, note) => {
              if (!isCarried(path)) note(describeMismatch('a script, style, font, image or wasm file', path))
              if (Buffer.byteLength(path) > longestPath)
                note(describeMismatch(`a path of at most ${longestPath} bytes`, path))
            }),
            stem: s.optional(stem),
            size: byteCount,
            sha256,
            worker: mark,
            variants,
          }),
        ),
      }),
    ),
  }),
)

/**
 * Parses a list of hashed files. It may come from another server.
 *
 * @throws OperatorError `SD_MANIFEST_INVALID` with the first problem.
 */
export function parseKeptList(json: string): KeptList {
  if (countListParts(json) > mostListParts) {
    throw invalid([`$: expected at most ${mostListParts} objects, lists and fields`])
  }
  const list = s.read(keptList, parseJson(json), '$', invalid)
  const names = list.builds.flatMap(({ id, files }) => [id, ...files.flatMap(namesOf)])
  if (new Set(names).size < names.length) throw invalid(['$: a build, path or variant occurs twice'])
  refuseTwoSizes(list)
  return list
}

/** Counts opening brackets and colons, without parsing. */
export function countListParts(json: string): number {
  let count = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === 0x3a || code === 0x5b || code === 0x7b) count += 1
  }
  return count
}

/** Refuses two sizes of a digest. Readers allocate memory by the size of a file. */
function refuseTwoSizes({ builds }: KeptList): void {
  const sizes = new Map<string, number>()
  for (const { files } of builds) {
    for (const file of files) {
      for (const { sha256: digest, size } of [file, ...file.variants]) {
        if ((sizes.get(digest) ?? size) !== size) throw invalid([`${file.path}: a digest has two sizes`])
        sizes.set(digest, size)
      }
    }
  }
}

function namesOf({ path, variants: ofFile }: ListedFile): readonly string[] {
  return [path, ...ofFile.map(({ coding }) => variantPath(path, coding))]
}

function invalid(problems: readonly string[]): OperatorError {
  return new OperatorError('SD_MANIFEST_INVALID', problems)
}
