import type { Manifest } from '@serve-dist/manifest'
import { namesOf } from './names-of.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import { matchesUrlPattern } from './url-pattern.ts'

/** One line for each rule of `_headers` that no file of the build is answered under. */
export function idleHeaderRules(
  rules: readonly HeadersFileRule[],
  { base, files }: Pick<Manifest, 'base' | 'files'>,
): string[] {
  const paths = files.flatMap(({ path }) => namesOf(path).map((name) => base + name))
  return rules
    .filter(({ pattern }) => !paths.some((path) => matchesUrlPattern(pattern, path)))
    .map(({ pattern }) => `the rule of _headers for ${pattern} matches no file of the build`)
}
