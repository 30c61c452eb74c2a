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
import { formatBytes, formatChange, formatSize } from '../builds/format-values.ts'
import {
  codingsOf,
  type FileKind,
  fileKindOf,
  type SizeColumn,
  type Sizes,
  sizesOf,
  sumSizes,
} from '../builds/sizes.ts'

/** The name of the size that a returning visitor downloads. */
export const returning = 'returning visitor'

/** The data of the HTML page, which contains it as JSON. */
export interface PageData {
  /** The sizes that the page can show, in the order of each node's sizes. */
  readonly columns: readonly (SizeColumn | typeof returning)[]
  readonly isComparison: boolean
  readonly root: PageNode
}

/** A file, a folder, or the smallest files of a folder as one node (created by the page). */
export interface PageNode {
  /** The last segment of the path, escaped for display. */
  readonly name: string
  /** The path, escaped for display. A folder's path ends with a slash, and the root's is empty. */
  readonly path: string
  readonly kind: FileKind | 'folder' | 'more'
  /** The state of a file in a comparison. */
  readonly state?: FileState
  /** The sizes, one for each column. */
  readonly sizes: readonly PageSize[]
  /** The children of a folder. */
  readonly children?: readonly PageNode[]
}

/** A size with its text. */
export interface PageSize {
  readonly bytes: number
  readonly text: string
  /** The change in a comparison. Absent if the size is unchanged. */
  readonly change?: string
  readonly verdict?: Verdict
  /** The colour intensity of the change, from 0 to 1. */
  readonly strength?: number
}

interface PageFile {
  readonly segments: readonly string[]
  readonly kind: FileKind
  readonly state: FileState | undefined
  readonly before: Sizes
  readonly after: Sizes
  readonly toLoad: ToLoad
}

/** The number of bytes to download. It is 0 for unchanged files. */
interface ToLoad {
  readonly withDeltas: number
  readonly without: number
}

/** Creates the tree of folders and files with sizes, changes and texts. */
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
    const size = { bytes: after[column], text: formatSize(after[column]) }
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

/** Returns the colour intensity. It is maximal from 10 %, because most relevant changes are a few percent. */
function strengthOf(percent: number): number {
  return Number(Math.min(1, 0.4 + (Math.abs(percent) / 10) * 0.6).toFixed(2))
}
