import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  manifestPath,
  parseManifest,
} from '@serve-dist/manifest'
import { negotiate, tagsIn } from './soak-model-fields.ts'
import { ruledFields, type Ruling, rulingFor } from './soak-model-rules.ts'
import { readTarget } from './soak-model-target.ts'
import type { SoakRequest, SoakVocabulary } from './soak-request.ts'

// What docs/http.md promises, written a second time: from the document and from RFC 9110, not from the
// server. It is slow and plain, and knows nothing of tables, prebuilt answers or memory.

/** An answer as the contract has it. */
export interface SoakAnswer {
  readonly status: number
  /** All but what belongs to the connection, by lower-case name. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The links of a 103 that may come before it. */
  readonly hints?: string
}

/** The contract, applied to one build. */
export interface SoakModel {
  readonly answer: (request: SoakRequest) => SoakAnswer
  readonly vocabulary: SoakVocabulary
}

interface Representation {
  readonly coding: string
  readonly bytes: Buffer
  readonly tag: string
}

interface Page {
  readonly file: ManifestFile
  readonly manifest: Manifest
  /** Identity is the last one. */
  readonly representations: readonly Representation[]
}

const none = Buffer.alloc(0)
const allow = 'GET, HEAD, OPTIONS'
const optionsAnswer: SoakAnswer = { status: 204, fields: { allow, 'cache-control': 'no-store' }, body: none }
const suffixes = { zstd: '.zst', br: '.br', gzip: '.gz' }

/** Reads the build in a folder. */
export async function createModel(directory: string): Promise<SoakModel> {
  const manifest = parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
  const pages = new Map<string, Page>()
  for (const file of manifest.files) pages.set(file.path, await readPage(directory, file, manifest))
  return { answer: (request) => answerTo(request, manifest, pages), vocabulary: wordsOf(manifest, pages) }
}

async function readPage(directory: string, file: ManifestFile, manifest: Manifest): Promise<Page> {
  const read = async (coding: string, suffix: string): Promise<Representation> => {
    const bytes = await readFile(join(directory, file.path + suffix))
    const digest = createHash('sha256').update(bytes).digest().subarray(0, 16)
    return { coding, bytes, tag: `"${digest.toString('base64url')}"` }
  }
  const variants = file.variants.map(({ coding }) => read(coding, suffixes[coding]))
  return { file, manifest, representations: await Promise.all([...variants, read('identity', '')]) }
}

function wordsOf(
  { base, assetsDirectory, files, serving }: Manifest,
  pages: ReadonlyMap<string, Page>,
): SoakVocabulary {
  const names = files.flatMap(({ path }) => {
    const name = path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')
    return [path, name, name.endsWith('/') ? name.slice(0, -1) : `${name}/`]
  })
  const asked = (serving?.redirects ?? []).map(({ from }) => from.replaceAll(/\*|:[a-z]+/g, 'x-1'))
  const representations = [...pages.values()].flatMap((page) => page.representations)
  return {
    targets: [
      base,
      base.slice(0, -1) || '/',
      ...names.map((name) => escapePath(base + name)),
      ...asked,
      ...asked,
    ],
    assets: `${base}${assetsDirectory}/`,
    entityTags: ['"first"', ...representations.map(({ tag }) => tag)],
    sizes: [
      0,
      ...representations.filter(({ coding }) => coding === 'identity').map(({ bytes }) => bytes.length),
    ],
    lastModified: Date.parse(files[0]?.lastModified ?? ''),
  }
}

function answerTo(request: SoakRequest, manifest: Manifest, pages: ReadonlyMap<string, Page>): SoakAnswer {
  const answer = answerWithBody(request, manifest, pages)
  return request.method === 'HEAD' ? { ...answer, body: none } : answer
}

function answerWithBody(
  request: SoakRequest,
  manifest: Manifest,
  pages: ReadonlyMap<string, Page>,
): SoakAnswer {
  const { method } = request
  const { base, assetsDirectory } = manifest
  const read = readTarget(request.target)
  if (read === 'malformed') return problem(400, 'Bad Request')
  if (read === 'unclean') return problem(404, 'Not Found')

  const isRead = method === 'GET' || method === 'HEAD'
  const found = find(read.path, base, pages)
  const ruling = rulingFor(manifest.serving, escapePath(read.path), found !== undefined)
  const isAsset = read.path.startsWith(`${base}${assetsDirectory}/`)
  const byRule = ruling && answerByRule(request, ruling, { query: read.query, found, pages })
  if (byRule !== undefined) return byRule
  if (found !== undefined && method === 'OPTIONS') {
    return optionsAnswer
  }
  if (found !== undefined && !isRead) return problem(405, 'Method Not Allowed', { allow })
  if (typeof found === 'string') {
    return redirect({ status: 308, to: found, isAboutAssets: false }, read.query)
  }
  if (found !== undefined) return answerWithPage(found, request)

  // An unknown path: only a navigation gets a page, and a cache is told so.
  const answerNavigation = isRead ? pageFor(read.path, { manifest, ruling, isAsset, pages }) : undefined
  if (answerNavigation === undefined) return problem(404, 'Not Found')
  const answer = isNavigation(request) ? answerNavigation(request) : problem(404, 'Not Found')
  const vary = [answer.fields['vary'] ?? [], 'Accept', 'Sec-Fetch-Mode'].flat().join(', ')
  return { ...answer, fields: { ...answer.fields, vary } }
}

interface UnknownPath {
  readonly manifest: Manifest
  readonly ruling: Ruling | undefined
  readonly isAsset: boolean
  readonly pages: ReadonlyMap<string, Page>
}

/** What answers a navigation to an unknown path: the page of a rule, of a 404, or of a single-page application. */
function pageFor(
  path: string,
  { manifest: { base, appType }, ruling, isAsset, pages }: UnknownPath,
): ((request: SoakRequest) => SoakAnswer) | undefined {
  const ruled = ruling?.status === 200 ? pages.get(ruling.to.slice(1)) : undefined
  if (ruled !== undefined && isPage(ruled) && (!isAsset || ruling?.isAboutAssets === true))
    return (request) => answerWithPage(ruled, request)
  if (!path.startsWith(base)) return undefined
  const notFound = pages.get('404.html')
  if (notFound !== undefined) return (request) => answerNotFound(notFound, request)
  const index = appType === 'spa' && !isAsset ? pages.get('index.html') : undefined
  return index && ((request) => answerWithPage(index, request))
}

interface RuledPath {
  readonly query: string
  /** What the build has under the path. */
  readonly found: Page | string | undefined
  readonly pages: ReadonlyMap<string, Page>
}

/** What a rule that matches makes of a request; `undefined` where it is as if there were no rule. */
function answerByRule(
  request: SoakRequest,
  ruling: Ruling,
  { query, found, pages }: RuledPath,
): SoakAnswer | undefined {
  const { method } = request
  const isRead = method === 'GET' || method === 'HEAD'
  const target = pages.get(ruling.to.slice(1))
  if (ruling.status === 404 && target !== undefined)
    return isRead ? answerNotFound(target, request) : problem(404, 'Not Found')
  if (ruling.status === 200 && target !== undefined && isPage(target)) {
    if (found === undefined || (typeof found !== 'string' && !isPage(found))) return undefined
  }
  if (method === 'OPTIONS') return optionsAnswer
  if (!isRead) return problem(405, 'Method Not Allowed', { allow })
  return target === undefined ? redirect(ruling, query) : answerWithPage(target, request)
}

function isPage({ file }: Page): boolean {
  return file.mediaType.startsWith('text/html')
}

function redirect({ status, to }: Ruling, query: string): SoakAnswer {
  const location = to.includes('?') ? to : to + query
  return { status, fields: { location, 'cache-control': 'no-cache', 'content-length': '0' }, body: none }
}

/** The page under a decoded path, or the location that it is redirected to. */
function find(path: string, base: string, pages: ReadonlyMap<string, Page>): Page | string | undefined {
  if (`${path}/` === base) return escapePath(base)
  if (!path.startsWith(base)) return undefined
  const name = path.slice(base.length)
  const exact = pages.get(name)
  if (exact !== undefined) return exact
  const isFolder = name === '' || name.endsWith('/')
  if (isFolder) {
    const page = pages.get(`${name}index.html`)
    if (page !== undefined) return page
    const sibling = name.slice(0, -1)
    return isNamedPage(sibling) && pages.has(`${sibling}.html`) ? escapePath(base + sibling) : undefined
  }
  if (isNamedPage(name) && pages.has(`${name}.html`)) return pages.get(`${name}.html`)
  return pages.has(`${name}/index.html`) ? escapePath(`${base}${name}/`) : undefined
}

/** `index` is no name of a page: its folder is. */
function isNamedPage(name: string): boolean {
  return name !== '' && name !== 'index' && !name.endsWith('/index')
}

function answerWithPage(page: Page, request: SoakRequest): SoakAnswer {
  const {
    representations,
    file,
    manifest: { base, serving },
  } = page
  const identity = representations.at(-1)
  if (identity === undefined) throw new TypeError(`${file.path} has no representation`)
  const varies = representations.length > 1
  const vary: Record<string, string> = varies ? { vary: 'Accept-Encoding' } : {}
  const lastModified = Date.parse(file.lastModified)

  // The representation: a range is one of the identity.
  const isIdentityWanted = negotiate(field(request, 'accept-encoding'), ['identity']) !== undefined
  const wanted = negotiate(
    field(request, 'accept-encoding'),
    representations.map(({ coding }) => coding),
  )
  // One date stands for the bytes of all codings.
  const date = wanted === 'identity' ? new Date(lastModified).toUTCString() : undefined
  const range = isIdentityWanted ? rangeOf(request, identity, date) : undefined
  const selected = range === undefined ? representations.find(({ coding }) => coding === wanted) : identity
  if (selected === undefined) return problem(406, 'Not Acceptable', vary)

  // RFC 9110 §13.2.2.
  const validators = { etag: selected.tag, 'last-modified': new Date(lastModified).toUTCString() }
  const cacheControl = file.cache === 'immutable' ? 'public, max-age=31536000, immutable' : 'no-cache'
  const ifMatch = field(request, 'if-match')
  const ifUnmodifiedSince = dateIn(field(request, 'if-unmodified-since'))
  if (ifMatch !== undefined) {
    if (ifMatch !== '*' && !tagsIn(ifMatch).includes(selected.tag)) {
      return problem(412, 'Precondition Failed', vary)
    }
  } else if (ifUnmodifiedSince !== undefined && lastModified > ifUnmodifiedSince) {
    return problem(412, 'Precondition Failed', vary)
  }
  const ifNoneMatch = field(request, 'if-none-match')
  const ifModifiedSince = dateIn(field(request, 'if-modified-since'))
  const isNotModified =
    ifNoneMatch === undefined
      ? ifModifiedSince !== undefined && lastModified <= ifModifiedSince
      : ifNoneMatch === '*' || tagsIn(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === selected.tag)
  if (isNotModified) {
    const kept = ruledFields(serving, file.path, { ...vary, ...validators, 'cache-control': cacheControl })
    return { status: 304, fields: withoutContent(kept), body: none }
  }

  if (range === 'unsatisfiable') {
    return problem(416, 'Range Not Satisfiable', {
      ...vary,
      'content-range': `bytes */${identity.bytes.length}`,
    })
  }
  const body = range === undefined ? selected.bytes : selected.bytes.subarray(range.first, range.last + 1)
  const link = linksOf(
    base,
    (file.links ?? []).filter(({ inDocument }) => !inDocument),
  )
  const fields = ruledFields(serving, file.path, {
    ...contentFields(file, selected, body),
    ...vary,
    ...validators,
    'cache-control': cacheControl,
    ...(selected === identity && { 'accept-ranges': 'bytes' }),
    ...(link !== '' && { link }),
  })
  if (range === undefined) {
    const hints = serving?.earlyHints === true ? linksOf(base, file.links ?? []) : ''
    const mayHint = hints !== '' && request.method === 'GET' && request.version === 'HTTP/1.1'
    return { status: 200, fields, body, ...(mayHint && { hints }) }
  }
  const contentRange = `bytes ${range.first}-${range.last}/${identity.bytes.length}`
  return { status: 206, fields: { ...fields, 'content-range': contentRange }, body }
}

function answerNotFound({ file, representations, manifest }: Page, request: SoakRequest): SoakAnswer {
  const codings = representations.map(({ coding }) => coding)
  const wanted = negotiate(field(request, 'accept-encoding'), codings)
  const selected = representations.find(({ coding }) => coding === wanted)
  if (selected === undefined) return problem(404, 'Not Found')
  const vary: Record<string, string> = representations.length > 1 ? { vary: 'Accept-Encoding' } : {}
  const content = { ...contentFields(file, selected, selected.bytes), ...vary }
  const fields = { ...ruledFields(manifest.serving, file.path, content), 'cache-control': 'no-store' }
  return { status: 404, fields, body: selected.bytes }
}

/** RFC 9110 §15.4.5: what describes a body is left out where there is none. */
function withoutContent(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('content-')))
}

function linksOf(base: string, links: readonly ManifestLink[]): string {
  return links
    .map(({ path, rel, as }) => {
      const kind = as === undefined ? '; crossorigin' : `; as=${as}`
      return `<${escapePath(base + path)}>; rel=${rel}${kind}`
    })
    .join(', ')
}

function contentFields(
  { mediaType }: ManifestFile,
  { coding }: Representation,
  body: Buffer,
): Readonly<Record<string, string>> {
  return {
    'content-type': mediaType,
    'content-length': String(body.length),
    ...(coding !== 'identity' && { 'content-encoding': coding }),
    'x-content-type-options': 'nosniff',
  }
}

function problem(status: number, reason: string, more: Readonly<Record<string, string>> = {}): SoakAnswer {
  const body = Buffer.from(`${status} ${reason}\n`)
  const fields = {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': String(body.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...more,
  }
  return { status, fields, body }
}

/** RFC 9110 §14: what of the identity is asked for; `undefined` where the field means nothing. */
function rangeOf(
  request: SoakRequest,
  identity: Representation,
  date: string | undefined,
): { readonly first: number; readonly last: number } | 'unsatisfiable' | undefined {
  const text = field(request, 'range')
  if (request.method !== 'GET' || text === undefined) return undefined
  const ifRange = field(request, 'if-range')
  if (ifRange !== undefined && ifRange !== identity.tag && ifRange !== date) return undefined

  const [unit = '', set = '', ...others] = text.split('=')
  const [start, end, ...more] = set.trim().split('-')
  const numbers = [start, end].filter((part) => part !== '')
  if (unit.toLowerCase() !== 'bytes' || others.length > 0 || more.length > 0) return undefined
  if (numbers.length === 0 || !numbers.every((part) => part !== undefined && /^\d+$/.test(part)))
    return undefined
  const size = BigInt(identity.bytes.length)
  if (start === '') {
    const length = BigInt(end ?? '')
    if (length === 0n) return 'unsatisfiable'
    if (size === 0n) return undefined
    return { first: Number(length > size ? 0n : size - length), last: Number(size - 1n) }
  }
  const first = BigInt(start ?? '')
  const last = end === '' ? size - 1n : BigInt(end ?? '')
  if (end !== '' && last < first) return undefined
  if (first >= size) return 'unsatisfiable'
  return { first: Number(first), last: Number(last < size ? last : size - 1n) }
}

function isNavigation(request: SoakRequest): boolean {
  const mode = field(request, 'sec-fetch-mode')
  if (mode !== undefined) return mode.toLowerCase() === 'navigate'
  const ranges = (field(request, 'accept') ?? '').toLowerCase().replaceAll(/\s/g, '').split(',')
  return ranges.some((range) => {
    const [type, ...parameters] = range.split(';')
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return type === 'text/html' && (weight === undefined || Number(weight.slice(2)) > 0)
  })
}

/** RFC 9110 §5.6.7; what is no date is as good as absent. */
function dateIn(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return undefined
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : time
}

function field({ fields }: SoakRequest, name: string): string | undefined {
  const values = fields.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value.trim())
  return values.length === 0 ? undefined : values.join(', ')
}

/** RFC 3986 §3.3: everything that may not stand in a path is an escape. */
function escapePath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replaceAll(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent),
    )
    .join('/')
}
