import { escapeInvisible } from '@serve-dist/manifest'
import type { BuildComparison, FileComparison, FileState } from '../compare/compare-builds.ts'
import {
  compareSizes,
  defaultNoise,
  type Noise,
  type SizeChange,
  type Verdict,
} from '../compare/size-change.ts'
import type { BuildReport } from '../formats/create-report.ts'
import { formatChange, formatKilobytes } from '../builds/format-values.ts'
import {
  codingsOf,
  type FileKind,
  fileKindOf,
  type SizeColumn,
  type Sizes,
  sizesOf,
  sumSizes,
} from '../builds/sizes.ts'

/** What the HTML page draws; it stands in the page as JSON. */
export interface PageData {
  /** What the page can weigh by, in the order of every node's sizes. */
  readonly columns: readonly SizeColumn[]
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
}

/** The tree of folders and files that the page draws, weighed, compared and put into words. */
export function pageData({ build, comparison }: BuildReport): PageData {
  const codings = codingsOf([...build.files, ...(comparison?.before.files ?? [])])
  const columns: readonly SizeColumn[] = codings.length > 1 ? [...codings, 'sent'] : codings
  const noise = comparison?.noise ?? defaultNoise
  const isComparison = comparison !== undefined
  const files = isComparison
    ? comparison.files.map((file) => ofComparison(file, comparison))
    : build.files.map((file) => ({
        segments: file.path.split('/'),
        kind: fileKindOf(file),
        state: undefined,
        before: sizesOf(undefined),
        after: sizesOf(file, build),
      }))
  return { columns, isComparison, root: folderNode([], files, { columns, isComparison, noise }) }
}

function ofComparison(
  { name, kind, state, before, after }: FileComparison,
  builds: BuildComparison,
): PageFile {
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
  const before = sumSizes(files.map((file) => file.before))
  const after = sumSizes(files.map((file) => file.after))
  return {
    name: escapeInvisible(segments.at(-1) ?? ''),
    path: segments.map((segment) => `${escapeInvisible(segment)}/`).join(''),
    kind: 'folder',
    sizes: pageSizes(before, after, style),
    children,
  }
}

function fileNode({ segments, kind, state, before, after }: PageFile, style: PageStyle): PageNode {
  return {
    name: escapeInvisible(segments.at(-1) ?? ''),
    path: escapeInvisible(segments.join('/')),
    kind,
    ...(state !== undefined && { state }),
    sizes: pageSizes(before, after, style),
  }
}

function pageSizes(before: Sizes, after: Sizes, { columns, isComparison, noise }: PageStyle): PageSize[] {
  const changes = compareSizes(before, after, noise)
  return columns.map((column) => {
    const size = { bytes: after[column], text: formatKilobytes(after[column]) }
    return isComparison ? { ...size, ...changeOf(changes[column]) } : size
  })
}

function changeOf(change: SizeChange): Pick<PageSize, 'change' | 'verdict' | 'strength'> {
  const { verdict, percent = 100 } = change
  if (verdict === 'same') return { verdict }
  // A tenth is as strong as it gets: most changes that matter are a few percent.
  const strength = Math.min(1, 0.4 + (Math.abs(percent) / 10) * 0.6)
  return { verdict, change: formatChange(change), strength: Number(strength.toFixed(2)) }
}
