import { createHash } from 'node:crypto'
import {
  type AppType,
  type CacheClass,
  type ContentCoding,
  contentCodings,
  type DeltaCoding,
  type Manifest,
  type ManifestFile,
  type PlainServingRules,
  variantPath,
} from '@serve-dist/manifest'
import { buildSite } from '../../src/site/build-site.ts'
import type { KeptBuild, StoredDelta, StoredDeltas } from '../../src/site/kept-build.ts'
import type { ManifestEntry, Resource, Site, StoredBytes } from '../../src/site/site.ts'
import type { SitePolicy } from '../../src/site/resolve-policy.ts'
import { resolveServing } from '../../src/site/resolve-serving.ts'

/** A file of a site without a disk. */
export interface FakeFile {
  readonly body: string
  /** Bodies by coding. They need not be valid because no test decodes them. */
  readonly variants?: Partial<Readonly<Record<ContentCoding, string>>>
  readonly mediaType?: string
  readonly stem?: string
  /** Deltas by the text of their dictionary. */
  readonly deltas?: Readonly<Record<string, Partial<Readonly<Record<DeltaCoding, string>>>>>
  readonly cache?: CacheClass
  readonly lastModified?: string
  readonly isStreamed?: boolean
  readonly worker?: true
  readonly runtime?: true
}

/** Files by path. A string is the body of a file without further properties. */
export type FakeFiles = Readonly<Record<string, string | FakeFile>>

/** The properties of a build. */
interface FakeBuildOptions {
  readonly buildId?: string
  readonly base?: string
  readonly appType?: AppType
  readonly assetsDirectory?: string
  readonly timesAreFixed?: true
}

export interface FakeSiteOptions extends FakeBuildOptions {
  readonly prefer?: 'order' | 'smallest'
  readonly rules?: PlainServingRules
  readonly policy?: SitePolicy
  /** Earlier builds, newest first. */
  readonly kept?: readonly KeptBuild[]
  /** Whether a publisher makes deltas of the builds. */
  readonly hasDeltas?: boolean
}

/** Builds the site table of files that are given as text, for tests of pure functions. */
export function fakeSite(
  files: FakeFiles,
  { prefer = 'order', rules = {}, policy, kept, hasDeltas = false, ...build }: FakeSiteOptions = {},
): Site {
  const serving = resolveServing({
    directory: '/build',
    headersFile: [],
    redirectsFile: [],
    rules: [{ prefer }, rules],
    policy,
  })
  const deltas = hasDeltas ? deltasOf(files) : undefined
  return buildSite({ ...fakeBuild(files, build), deltas }, serving, kept).site
}

/** Creates a build without a disk: its manifest and its bytes. */
export function fakeBuild(
  files: FakeFiles,
  {
    buildId = 'b'.repeat(32),
    base = '/',
    appType = 'spa',
    assetsDirectory = '',
    timesAreFixed,
  }: FakeBuildOptions = {},
): KeptBuild {
  const stored = new Map<ManifestEntry, StoredBytes>()
  const described = Object.entries(files).map(([path, file]) =>
    describe(path, typeof file === 'string' ? { body: file } : file, stored),
  )
  const manifest: Manifest = {
    version: 1,
    buildId,
    base,
    appType,
    assetsDirectory,
    lastModified: defaultTime,
    ...(timesAreFixed !== undefined && { timesAreFixed }),
    files: described.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }
  return { manifest, stored }
}

/** Returns the resource of a path that exists. */
export function resourceAt(site: Site, path: string): Resource {
  const entry = site.table.get(path)
  if (entry?.kind !== 'resource') throw new TypeError(`no resource at ${path}`)
  return entry
}

const defaultTime = '2026-01-31T12:00:00Z'

function describe(path: string, file: FakeFile, stored: Map<ManifestEntry, StoredBytes>): ManifestFile {
  const { body, variants = {}, mediaType = 'text/plain; charset=utf-8' } = file
  const isHeld = file.isStreamed !== true
  const inOrder = contentCodings.flatMap(({ name }) => {
    const encoded = variants[name]
    if (encoded === undefined) return []
    const variant = { coding: name, size: Buffer.byteLength(encoded), sha256: digestOf(encoded) }
    stored.set(variant, store(variantPath(path, name), encoded, isHeld))
    return [variant]
  })
  const described: ManifestFile = {
    path,
    mediaType,
    size: Buffer.byteLength(body),
    sha256: digestOf(body),
    cache: file.cache ?? 'revalidate',
    lastModified: file.lastModified ?? defaultTime,
    variants: inOrder,
    ...(file.stem !== undefined && { stem: file.stem }),
    ...(file.worker && { worker: file.worker }),
    ...(file.runtime && { runtime: file.runtime }),
  }
  stored.set(described, store(path, body, isHeld))
  return described
}

function deltasOf(files: FakeFiles): StoredDeltas {
  const described = Object.values(files).flatMap((file) => (typeof file === 'string' ? [] : [file]))
  return new Map(
    described.map(({ body, deltas = {} }) => [
      digestOf(body),
      new Map(
        Object.entries(deltas).map(([dictionary, { dcb, dcz }]) => [
          digestOf(dictionary),
          [...fakeDeltas('dcb', dcb), ...fakeDeltas('dcz', dcz)],
        ]),
      ),
    ]),
  )
}

function fakeDeltas(coding: DeltaCoding, text: string | undefined): StoredDelta[] {
  return text === undefined ? [] : [{ coding, sha256: digestOf(text), bytes: store('', text, true) }]
}

/** Returns the `Available-Dictionary` value for this text. */
export function offerOf(dictionary: string): string {
  return `:${createHash('sha256').update(dictionary).digest('base64')}:`
}

function store(path: string, text: string, isHeld: boolean): StoredBytes {
  const bytes = Buffer.from(text)
  const size = bytes.length
  if (isHeld) return { size, body: bytes }
  return {
    size,
    body: undefined,
    file: `/build/${path}`,
    fingerprint: `${size}:0:0:0`,
    changeTime: '0',
    sha256: undefined,
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
