import { OperatorError } from './operator-error.ts'
import { contentCodings } from './content-coding.ts'
import type { PagePolicy } from './content-security-policy.ts'
import {
  appType,
  basePath,
  buildId,
  byteCount,
  date,
  directiveName,
  mark,
  selection,
  sentSource,
  servablePath,
  sha256 as digest,
  stem,
  variants as variantsOfFile,
} from './document-schemas.ts'
import { isFieldValue } from './field-grammar.ts'
import {
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  manifestVersion,
  stateDirectory,
} from './manifest.ts'
import { describeMismatch, formatValue } from '@serve-dist/foundation/values/describe-mismatch'
import { pathProblem } from './path-problem.ts'
import { runtimeEnvironment } from './runtime-environment-schema.ts'
import * as s from './schema.ts'
import { servingRules } from './serving-rules-schema.ts'
import { variantPath } from './variant-path.ts'

const mediaTypeForm = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w.-]+=(?:[\w.-]+|"[^"]*"))*$/

const hashes = s.optional(s.listOf(s.text('a hash such as "sha256-…"', /^sha256-[A-Za-z0-9+/]{43}=$/)))

const fileSchema = s.objectOf<ManifestFile>({
  path: servablePath,
  mediaType: s.text('a media type such as "text/css; charset=utf-8", all of it ASCII', isMediaType),
  size: byteCount,
  sha256: digest,
  cache: s.oneOf(['immutable', 'revalidate']),
  lastModified: date,
  variants: variantsOfFile,
  stem: s.optional(stem),
  links: s.optional(
    s.listOf(
      s.objectOf<ManifestLink>({
        path: servablePath,
        rel: s.oneOf(['modulepreload', 'preload']),
        as: s.optional(s.oneOf(['style', 'script', 'font'])),
        crossorigin: s.optional(s.trueOrFalse),
        inDocument: s.trueOrFalse,
      }),
    ),
  ),
  runtime: mark,
  worker: mark,
  policy: s.optional(
    s.objectOf<PagePolicy>({
      scripts: hashes,
      styles: hashes,
      styleAttributes: hashes,
      scriptAttributes: hashes,
    }),
  ),
})

const manifest = s.objectOf<Manifest>({
  version: s.oneOf([manifestVersion]),
  buildId,
  base: basePath,
  appType,
  assetsDirectory: s.text('a relative folder without a final slash', isDirectory),
  lastModified: date,
  timesAreFixed: mark,
  serving: s.optional(servingRules),
  selection: s.optional(selection),
  environment: s.optional(runtimeEnvironment),
  policy: s.optional(s.recordOf(s.listOf(sentSource), directiveName)),
  files: s.listOf(fileSchema),
})

/**
 * Parses a manifest and checks every field. Ignores unknown fields and rejects unknown versions.
 *
 * @throws {@link OperatorError} that lists all problems with their JSON paths.
 */
export function parseManifest(json: string): Manifest {
  const document = parseJson(json)
  const { version }: { readonly version?: unknown } = Object(document)
  if (version !== manifestVersion) {
    throw invalid([
      `$.version: expected version ${manifestVersion}, found ${formatValue(version)}. Build and serve with the same release of serve-dist.`,
    ])
  }
  const read = s.read(manifest, document, '$', invalid)
  const problems: string[] = []
  checkNames(read.files, problems)
  if (problems.length === 0) checkRuntimeFile(read, problems)
  if (problems.length > 0) throw invalid(problems)
  return read
}

function invalid(problems: readonly string[]): OperatorError {
  return new OperatorError('SD_MANIFEST_INVALID', problems)
}

let lastMediaType = ''

/** Caches the last media type, because successive files often have the same one. */
function isMediaType(value: string): boolean {
  if (value !== lastMediaType) {
    if (!mediaTypeForm.test(value) || !isFieldValue(value)) return false
    lastMediaType = value
  }
  return true
}

/**
 * Checks that no two files or variants have the same name, and that files are sorted. Exception: a listed file may
 * equal a variant of another file, because another tool compressed it.
 */
function checkNames(files: readonly ManifestFile[], problems: string[]): void {
  if (haveClearNames(files)) return
  const owners = new Map<string, Claim>()
  let previous = ''
  for (const [index, file] of files.entries()) {
    if (file.path < previous)
      problems.push(
        `${jsonPathOfFile(index)}.path: ${formatValue(file.path)} follows ${formatValue(previous)}, but files must be sorted by path`,
      )
    previous = file.path
    const variants = file.variants.map((variant) => ({
      ...variant,
      path: variantPath(file.path, variant.coding),
    }))
    for (const { path, size, sha256 } of [file, ...variants]) {
      const claim = { index, isFile: path === file.path, size, sha256 }
      const owner = owners.get(path)
      if (owner !== undefined && !isSameFile(owner, claim)) {
        problems.push(
          `${jsonPathOfFile(index)}: ${formatValue(path)} is already the name of ${jsonPathOfFile(owner.index)}`,
        )
      }
      owners.set(path, claim)
    }
  }
}

/** Checks that only the environment module is marked as generated at the start. */
function checkRuntimeFile({ environment, files }: Manifest, problems: string[]): void {
  for (const [index, { path, runtime = false }] of files.entries()) {
    const isModule = path === environment?.path
    if (runtime !== isModule)
      problems.push(
        `${jsonPathOfFile(index)}.runtime: ${describeMismatch(`${isModule} for ${formatValue(path)}`, runtime)}`,
      )
  }
}

interface Claim extends Pick<ManifestFile, 'size' | 'sha256'> {
  readonly index: number
  readonly isFile: boolean
}

function isSameFile(one: Claim, other: Claim): boolean {
  return one.isFile !== other.isFile && one.size === other.size && one.sha256 === other.sha256
}

/**
 * Returns whether names are unique and sorted without a map of all names. Most builds have no file that could be a
 * variant by its name.
 */
function haveClearNames(files: readonly ManifestFile[]): boolean {
  let previous = ''
  for (const { path, variants } of files) {
    const isInOrder = path > previous
    const isEachOnce = variants.every(
      ({ coding }, index) => variants.findIndex((variant) => variant.coding === coding) === index,
    )
    if (!isInOrder || !isEachOnce || contentCodings.some(({ extension }) => path.endsWith(extension)))
      return false
    previous = path
  }
  return true
}

function jsonPathOfFile(index: number): string {
  return `$.files[${index}]`
}

export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError('SD_MANIFEST_INVALID', [`$: not JSON (${reason})`], { cause: error })
  }
}

function isDirectory(value: string): boolean {
  return value === '' || (pathProblem(value) === undefined && value !== stateDirectory)
}
