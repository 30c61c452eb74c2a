import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import type { BuildComparison, FileComparison, FileState } from '../compare/compare-builds.ts'
import {
  compareSizes,
  defaultNoise,
  type Noise,
  type SizeChange,
  type Verdict,
} from '../compare/size-change.ts'
import type { BuildReport } from '../formats/create-report.ts'
import { formatBytes, formatChange, formatKilobytes } from '../builds/format-values.ts'
import {
  codingsOf,
  type FileKind,
  fileKindOf,
  type SizeColumn,
  type Sizes,
  sizesOf,
  sumSizes,
} from '../builds/sizes.ts'

/** What the page weighs by besides: what a visitor of the last build downloads. */
export const returning = 'returning visitor'

/** What the HTML page draws; it stands in the page as JSON. */
export interface PageData {
  /** What the page can weigh by, in the order of every node's sizes. */
  readonly columns: readonly (SizeColumn | typeof returning)[]
  readonly isComparison: boolean
  readonly root: PageNode
}

/** A file, a folder, or (made by the page) the smallest of a folder as one. */
export interface PageNode {
  /** The last segment of its path, safe to show. */
  readonly name: string
  /** Safe to show; a folder's ends in a slash, the root's is empty. */
  readonly path: string
  readonly kind: FileKind | 'folder' | 'more'
  /** Of files in a comparison. */
  readonly state?: FileState
  /** One for each column. */
  readonly sizes: readonly PageSize[]
  /** Of folders. */
  readonly children?: readonly PageNode[]
}

/** A size with the words for it. */
export interface PageSize {
  readonly bytes: number
  readonly text: string
  /** In a comparison, where it is not the same. */
  readonly change?: string
  readonly verdict?: Verdict
  /** How strongly to colour the change, 0 to 1. */
  readonly strength?: number
}

/** A file as the page needs it. */
interface PageFile {
  readonly segments: readonly string[]
  readonly kind: FileKind
  readonly state: FileState | undefined
  readonly before: Sizes
  readonly after: Sizes
  readonly toLoad: ToLoad
}

/** Bytes to download, 0 of what did not change. */
interface ToLoad {
  readonly withDeltas: number
  readonly without: number
}

/** The tree of folders and files that the page draws, weighed, compared and put into words. */
export function pageData({ build, comparison, download }: BuildReport): PageData {
  const codings = codingsOf([...build.files, ...(comparison?.before.files ?? [])])
  const columns: readonly SizeColumn[] = codings.length > 1 ? [...codings, 'sent'] : codings
  const noise = comparison?.noise ?? defaultNoise
  const isComparison = comparison !== undefined
  const changes = new Map(download?.changes.map((change) => [change.path, change]))
  const toLoadOf = (path: string | undefined): ToLoad => {
    const { bytes = 0, delta = bytes } = changes.get(path ?? '') ?? {}
    return { withDeltas: delta, without: bytes }
  }
  const files = isComparison
    ? comparison.files.map((file) => ({
        ...ofComparison(file, comparison),
        toLoad: toLoadOf(file.after?.path),
      }))
    : build.files.map((file) => ({
        segments: file.path.split('/'),
        kind: fileKindOf(file),
        state: undefined,
        before: sizesOf(undefined),
        after: sizesOf(file, build),
        toLoad: toLoadOf(file.path),
      }))
  const hasDownload = download !== undefined
  return {
    columns: hasDownload ? [...columns, returning] : columns,
    isComparison,
    root: folderNode([], files, { columns, isComparison, hasDownload, noise }),
  }
}

function ofComparison(
  { name, kind, state, before, after }: FileComparison,
  builds: BuildComparison,
): Omit<PageFile, 'toLoad'> {
  return {
    segments: name.split('/'),
    kind,
    state,
    before: sizesOf(before, builds.before),
    after: sizesOf(after, builds.after),
  }
}

interface PageStyle {
  readonly columns: readonly SizeColumn[]
  readonly isComparison: boolean
  readonly hasDownload: boolean
  readonly noise: Noise
}

function folderNode(segments: readonly string[], files: readonly PageFile[], style: PageStyle): PageNode {
  const depth = segments.length
  const folders = new Map<string, PageFile[]>()
  const children: PageNode[] = []
  for (const file of files) {
    const name = file.segments[depth] ?? ''
    if (file.segments.length === depth + 1) {
      children.push(fileNode(file, style))
      continue
    }
    const folder = folders.get(name)
    if (folder === undefined) folders.set(name, [file])
    else folder.push(file)
  }
  for (const [name, inside] of folders) children.push(folderNode([...segments, name], inside, style))
  const weights = {
    before: sumSizes(files.map((file) => file.before)),
    after: sumSizes(files.map((file) => file.after)),
    toLoad: {
      withDeltas: files.reduce((sum, { toLoad }) => sum + toLoad.withDeltas, 0),
      without: files.reduce((sum, { toLoad }) => sum + toLoad.without, 0),
    },
  }
  return {
    name: escapeInvisible(segments.at(-1) ?? ''),
    path: segments.map((segment) => `${escapeInvisible(segment)}/`).join(''),
    kind: 'folder',
    sizes: pageSizes(weights, style),
    children,
  }
}

function fileNode(file: PageFile, style: PageStyle): PageNode {
  const { segments, kind, state } = file
  return {
    name: escapeInvisible(segments.at(-1) ?? ''),
    path: escapeInvisible(segments.join('/')),
    kind,
    ...(state !== undefined && { state }),
    sizes: pageSizes(file, style),
  }
}

function pageSizes(
  { before, after, toLoad }: Pick<PageFile, 'before' | 'after' | 'toLoad'>,
  { columns, isComparison, hasDownload, noise }: PageStyle,
): PageSize[] {
  const changes = compareSizes(before, after, noise)
  const sizes = columns.map((column) => {
    const size = { bytes: after[column], text: formatKilobytes(after[column]) }
    return isComparison ? { ...size, ...changeOf(changes[column]) } : size
  })
  return hasDownload ? [...sizes, returningSize(toLoad)] : sizes
}

function returningSize({ withDeltas, without }: ToLoad): PageSize {
  const size = { bytes: withDeltas, text: formatBytes(withDeltas) }
  if (withDeltas === without) return size
  const change = `of ${formatBytes(without)}`
  return { ...size, change, verdict: 'smaller', strength: strengthOf(100 - (withDeltas / without) * 100) }
}

function changeOf(change: SizeChange): Pick<PageSize, 'change' | 'verdict' | 'strength'> {
  const { verdict, percent = 100 } = change
  if (verdict === 'same') return { verdict }
  return { verdict, change: formatChange(change), strength: strengthOf(percent) }
}

/** A tenth is as strong as it gets: most changes that matter are a few percent. */
function strengthOf(percent: number): number {
  return Number(Math.min(1, 0.4 + (Math.abs(percent) / 10) * 0.6).toFixed(2))
}
