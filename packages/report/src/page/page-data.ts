import { codingsOf } from '../builds/codings-of.ts'
import type { BuildComparison, FileComparison, FileState } from '../compare/compare-builds.ts'
import type { BuildReport } from '../formats/create-report.ts'
import { type FileKind, fileKindOf } from '../builds/file-kind.ts'
import { formatKilobytes } from '../builds/format-bytes.ts'
import { formatPath } from '../builds/format-path.ts'
import type { Noise } from '../compare/noise.ts'
import { defaultNoise } from '../compare/noise.ts'
import type { PageData, PageNode, PageSize } from './page-node.ts'
import { compareSizes, type SizeChange, type SizeChanges } from '../compare/size-change.ts'
import { noSizes, type SizeColumn, type Sizes, sizesOf, sizesOrNone, sumSizes } from '../builds/sizes.ts'
import { formatChange } from '../compare/summarize-comparison.ts'

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
        before: noSizes,
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
    before: sizesOrNone(before, builds.before),
    after: sizesOrNone(after, builds.after),
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
    name: formatPath(segments.at(-1) ?? ''),
    path: segments.map((segment) => `${formatPath(segment)}/`).join(''),
    kind: 'folder',
    sizes: pageSizes(before, after, style),
    children,
  }
}

function fileNode({ segments, kind, state, before, after }: PageFile, style: PageStyle): PageNode {
  return {
    name: formatPath(segments.at(-1) ?? ''),
    path: formatPath(segments.join('/')),
    kind,
    ...(state !== undefined && { state }),
    sizes: pageSizes(before, after, style),
  }
}

function pageSizes(before: Sizes, after: Sizes, { columns, isComparison, noise }: PageStyle): PageSize[] {
  const changes: SizeChanges = compareSizes(before, after, noise)
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
