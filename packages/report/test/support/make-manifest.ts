import { createHash } from 'node:crypto'
import type { CacheClass, ContentCoding, Manifest, ManifestFile } from '@serve-dist/manifest'

/** A file of a test manifest. Missing values are derived. */
export interface FileSketch {
  readonly path: string
  readonly stem?: string
  readonly size: number
  /** Equal texts have equal digests. @default the path and the size */
  readonly content?: string
  /** @default 'immutable' under `assets/` */
  readonly cache?: CacheClass
  readonly variants?: Partial<Readonly<Record<ContentCoding, number>>>
}

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
}
const time = '2026-01-31T12:00:00Z'

/** Makes a manifest of files without content. */
export function makeManifest(sketches: readonly FileSketch[]): Manifest {
  const files = sketches.map(makeFile).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const buildId = digest(files.map(({ path, sha256 }) => path + sha256).join('\n')).slice(0, 32)
  return {
    version: 1,
    buildId,
    base: '/',
    appType: 'spa',
    assetsDirectory: 'assets',
    lastModified: time,
    files,
  }
}

function makeFile({
  path,
  stem,
  size,
  content = `${path}:${size}`,
  cache,
  variants = {},
}: FileSketch): ManifestFile {
  const codings: readonly ContentCoding[] = ['zstd', 'br', 'gzip']
  return {
    path,
    ...(stem !== undefined && { stem }),
    mediaType: mediaTypes[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    size,
    sha256: digest(content),
    cache: cache ?? (path.startsWith('assets/') ? 'immutable' : 'revalidate'),
    lastModified: time,
    variants: codings.flatMap((coding) => {
      const variantSize = variants[coding]
      return variantSize === undefined
        ? []
        : [{ coding, size: variantSize, sha256: digest(`${content}:${coding}`) }]
    }),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
