import { OperatorError } from './operator-error.ts'
import { type ContentCoding, contentCodings } from './content-coding.ts'
import {
  type AppType,
  type CacheClass,
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  type ManifestVariant,
  manifestVersion,
  type Selection,
  stateDirectory,
} from './manifest.ts'
import { DocumentReader } from './document-reader.ts'
import { mismatch, show } from '@serve-dist/foundation/values/mismatch'
import { isFieldValue } from './field-grammar.ts'
import { isBasePath } from './is-base-path.ts'
import type { BuildPolicy, PagePolicy } from './content-security-policy.ts'
import { readRuntimeEnvironment } from './read-runtime-environment.ts'
import { readGlob, readServingRules } from './read-serving-rules.ts'
import { pathProblem } from './path-problem.ts'
import { variantPath } from './variant-path.ts'

const appTypes: readonly [AppType, ...AppType[]] = ['spa', 'mpa', 'custom']
const cacheClasses: readonly [CacheClass, ...CacheClass[]] = ['immutable', 'revalidate']
const [mostPreferred, ...otherCodings] = contentCodings
const codingNames: readonly [ContentCoding, ...ContentCoding[]] = [
  mostPreferred.name,
  ...otherCodings.map(({ name }) => name),
]
const sha256Form = /^[0-9a-f]{64}$/
const buildIdForm = /^[0-9a-f]{16,64}$/
const mediaTypeForm = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w.-]+=(?:[\w.-]+|"[^"]*"))*$/

/**
 * Reads the text of a manifest and checks every field. Fields that this version does not know are
 * ignored; a version that it does not know is refused.
 *
 * @throws {@link OperatorError} that lists all problems at once, each with its JSON path.
 */
export function parseManifest(text: string): Manifest {
  const problems: string[] = []
  const root = new DocumentReader('$', parseJson(text), problems)
  const version = root.field('version')
  if (version.value !== manifestVersion) {
    const found = root.isObject
      ? `found ${show(version.value)}`
      : `found ${show(root.value)} in the place of an object`
    throw new OperatorError('SD_MANIFEST_INVALID', [
      `$.version: this release of serve-dist reads version ${manifestVersion}, ${found}; build again with the release that serves, or serve with the release that built`,
    ])
  }
  const manifest: Manifest = {
    version: manifestVersion,
    buildId: root.field('buildId').matching(buildIdForm, '16 to 64 lower-case hexadecimal digits'),
    base: root.field('base').where(isBasePath, 'a path that begins and ends with "/"'),
    appType: root.field('appType').oneOf(appTypes),
    assetsDirectory: root
      .field('assetsDirectory')
      .where(isDirectory, 'a relative folder without a slash at its end'),
    lastModified: root.field('lastModified').date(),
    ...(root.field('timesAreFixed').value === true && { timesAreFixed: true }),
    ...(root.field('serving').value !== undefined && { serving: readServingRules(root.field('serving')) }),
    ...(root.field('selection').value !== undefined && { selection: readSelection(root.field('selection')) }),
    ...(root.field('environment').value !== undefined && {
      environment: readRuntimeEnvironment(root.field('environment')),
    }),
    ...(root.field('policy').value !== undefined && { policy: readBuildPolicy(root.field('policy')) }),
    files: root.field('files').list(objectsOnly(readFile)),
  }
  if (problems.length === 0) checkNames(manifest.files, problems)
  if (problems.length === 0) checkRuntimeFile(manifest, problems)
  if (problems.length > 0) throw new OperatorError('SD_MANIFEST_INVALID', problems)
  return manifest
}

/** Reads which files belong to a build; notes what is wrong with it. */
export function readSelection(selection: DocumentReader): Selection {
  if (!selection.isObject) selection.expected('an object')
  const globs = (name: 'include' | 'exclude'): Selection => {
    const field = selection.field(name)
    if (field.value === undefined) return {}
    return { [name]: field.list(readGlob) }
  }
  return { ...globs('include'), ...globs('exclude') }
}

function readFile(file: DocumentReader): ManifestFile {
  const read: ManifestFile = {
    path: file.field('path').servablePath(),
    mediaType: file
      .field('mediaType')
      .where(isMediaType, 'a media type such as "text/css; charset=utf-8", all of it ASCII'),
    size: file.field('size').byteCount(),
    sha256: file.field('sha256').matching(sha256Form, '64 lower-case hexadecimal digits'),
    cache: file.field('cache').oneOf(cacheClasses),
    lastModified: file.field('lastModified').date(),
    variants: file.field('variants').list(variantReader),
  }
  const stem = file.field('stem')
  const links = file.field('links')
  const policy = file.field('policy')
  const marks = {
    ...(file.field('runtime').value === true && ({ runtime: true } as const)),
    ...(file.field('worker').value === true && ({ worker: true } as const)),
  }
  if (stem.value === undefined && links.value === undefined && policy.value === undefined)
    return Object.assign(read, marks)
  return {
    ...read,
    ...(stem.value !== undefined && { stem: stem.where(isStem, stemForm) }),
    ...(links.value !== undefined && { links: links.list(readLink) }),
    ...marks,
    ...(policy.value !== undefined && { policy: readPagePolicy(policy) }),
  }
}

/** Reads sources by directive; notes what is wrong with them. */
function readBuildPolicy(policy: DocumentReader): BuildPolicy {
  return policy.record((sources, name) => {
    if (!/^[a-z-]+$/.test(name)) sources.problem('expected the name of a directive')
    return sources.list((source) => source.matching(/^[\x21-\x2B\x2D-\x3A\x3C-\x7E]+$/, 'a source'))
  })
}

const policyKinds = ['scripts', 'styles', 'styleAttributes', 'scriptAttributes'] as const

function readPagePolicy(policy: DocumentReader): PagePolicy {
  if (!policy.isObject) policy.expected('an object')
  return Object.fromEntries(
    policyKinds
      .map((kind) => [kind, policy.field(kind)] as const)
      .filter(([, hashes]) => hashes.value !== undefined)
      .map(([kind, hashes]) => [
        kind,
        hashes.list((hash) => hash.matching(/^sha256-[A-Za-z0-9+/]{43}=$/, 'a hash such as "sha256-…"')),
      ]),
  )
}

const variantReader = objectsOnly(readVariant)

let lastMediaType = ''

/** Files that follow each other often have the same. */
function isMediaType(text: string): boolean {
  if (text !== lastMediaType) {
    if (!mediaTypeForm.test(text) || !isFieldValue(text)) return false
    lastMediaType = text
  }
  return true
}

function readVariant(variant: DocumentReader): ManifestVariant {
  return {
    coding: variant.field('coding').oneOf(codingNames),
    size: variant.field('size').byteCount(),
    sha256: variant.field('sha256').matching(sha256Form, '64 lower-case hexadecimal digits'),
  }
}

function readLink(link: DocumentReader): ManifestLink {
  return {
    path: link.field('path').servablePath(),
    rel: link.field('rel').oneOf(['modulepreload', 'preload']),
    ...(link.field('as').value !== undefined && { as: link.field('as').oneOf(['style', 'font']) }),
    ...(link.field('crossorigin').value !== undefined && {
      crossorigin: link.field('crossorigin').boolean(),
    }),
    inDocument: link.field('inDocument').boolean(),
  }
}

/** `null` and texts have no fields: one problem instead of one a field. */
function objectsOnly<Item>(read: (item: DocumentReader) => Item): (item: DocumentReader) => Item {
  return (item) => {
    if (!item.isObject) item.expected('an object')
    return read(item)
  }
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
        `${placeOf(index)}.path: ${show(file.path)} stands after ${show(previous)}; files are sorted by path`,
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
        problems.push(`${placeOf(index)}: ${show(path)} is already claimed by ${placeOf(owner.index)}`)
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
      problems.push(`${placeOf(index)}.runtime: ${mismatch(`${isModule} for ${show(path)}`, runtime)}`)
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

function placeOf(index: number): string {
  return `$.files[${index}]`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError('SD_MANIFEST_INVALID', [`$: not JSON (${reason})`], { cause: error })
  }
}

const stemForm = 'a path with "[hash]" in the place of each hash'

function isStem(text: string): boolean {
  return text.includes('[hash]') && pathProblem(text) === undefined
}

function isDirectory(text: string): boolean {
  return text === '' || (pathProblem(text) === undefined && text !== stateDirectory)
}
