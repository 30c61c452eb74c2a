import { OperatorError } from './operator-error.ts'
import { contentCodings } from './content-coding.ts'
import type { PagePolicy } from './content-security-policy.ts'
import {
  appType,
  basePath,
  buildId,
  byteCount,
  contentCoding,
  date,
  directiveName,
  selection,
  sentSource,
  servablePath,
  sha256 as digest,
} from './document-schemas.ts'
import { isFieldValue } from './field-grammar.ts'
import {
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  type ManifestVariant,
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

/** Present or not; anything but `true` counts as not. */
const mark = s.optional(s.converted(s.anything, (value) => value === true || undefined))

const hashes = s.optional(s.listOf(s.text('a hash such as "sha256-…"', /^sha256-[A-Za-z0-9+/]{43}=$/)))

const fileSchema = s.objectOf<ManifestFile>({
  path: servablePath,
  mediaType: s.text('a media type such as "text/css; charset=utf-8", all of it ASCII', isMediaType),
  size: byteCount,
  sha256: digest,
  cache: s.oneOf(['immutable', 'revalidate']),
  lastModified: date,
  variants: s.listOf(s.objectOf<ManifestVariant>({ coding: contentCoding, size: byteCount, sha256: digest })),
  stem: s.optional(s.text('a path with "[hash]" in the place of each hash', isStem)),
  links: s.optional(
    s.listOf(
      s.objectOf<ManifestLink>({
        path: servablePath,
        rel: s.oneOf(['modulepreload', 'preload']),
        as: s.optional(s.oneOf(['style', 'font'])),
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
  assetsDirectory: s.text('a relative folder without a slash at its end', isDirectory),
  lastModified: date,
  timesAreFixed: mark,
  serving: s.optional(servingRules),
  selection: s.optional(selection),
  environment: s.optional(runtimeEnvironment),
  policy: s.optional(s.recordOf(s.listOf(sentSource), directiveName)),
  files: s.listOf(fileSchema),
})

/**
 * Reads the text of a manifest and checks every field. Fields that this version does not know are
 * ignored; a version that it does not know is refused.
 *
 * @throws {@link OperatorError} that lists all problems at once, each with its JSON path.
 */
export function parseManifest(json: string): Manifest {
  const document = parseJson(json)
  const { version }: { readonly version?: unknown } = Object(document)
  if (version !== manifestVersion) {
    throw invalid([
      `$.version: this release of serve-dist reads version ${manifestVersion}, found ${formatValue(version)}; build again with the release that serves, or serve with the release that built`,
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

/** Files that follow each other often have the same. */
function isMediaType(value: string): boolean {
  if (value !== lastMediaType) {
    if (!mediaTypeForm.test(value) || !isFieldValue(value)) return false
    lastMediaType = value
  }
  return true
}

/**
 * Nothing may claim a name on the disk twice, but for one file that is also a variant of another, with the same bytes:
 * what another tool compressed. Files are in order.
 */
function checkNames(files: readonly ManifestFile[], problems: string[]): void {
  if (haveClearNames(files)) return
  const owners = new Map<string, Claim>()
  let previous = ''
  for (const [index, file] of files.entries()) {
    if (file.path < previous)
      problems.push(
        `${jsonPathOfFile(index)}.path: ${formatValue(file.path)} stands after ${formatValue(previous)}; files are sorted by path`,
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
          `${jsonPathOfFile(index)}: ${formatValue(path)} is already claimed by ${jsonPathOfFile(owner.index)}`,
        )
      }
      owners.set(path, claim)
    }
  }
}

/** The module of the environment, and nothing else, may have other bytes than those that were described. */
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

/** Whether that shows without a list of all names: most builds have no file that could be a variant by its name. */
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

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError('SD_MANIFEST_INVALID', [`$: not JSON (${reason})`], { cause: error })
  }
}

function isStem(value: string): boolean {
  return value.includes('[hash]') && pathProblem(value) === undefined
}

function isDirectory(value: string): boolean {
  return value === '' || (pathProblem(value) === undefined && value !== stateDirectory)
}
