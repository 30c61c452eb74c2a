import type { Manifest } from '@serve-dist/manifest'
import { namesOf } from './names-of.ts'
import type { HeadersFileRule } from './parse-headers-file.ts'
import { compileUrlPattern } from './url-pattern.ts'

/** One line for each rule of `_headers` that no file of the build is answered under. */
export function idleHeaderRules(
  rules: readonly HeadersFileRule[],
  { base, files }: Pick<Manifest, 'base' | 'files'>,
): string[] {
  const paths = files.flatMap(({ path }) => namesOf(path).map((name) => base + name))
  return rules
    .filter(({ pattern }) => {
      const form = compileUrlPattern(pattern)
      return !paths.some((path) => form.test(path))
    })
    .map(({ pattern }) => `the rule of _headers for ${pattern} matches no file of the build`)
}
