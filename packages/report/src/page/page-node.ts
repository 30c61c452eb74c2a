import type { FileState } from '../compare/compare-builds.ts'
import type { FileKind } from '../builds/file-kind.ts'
import type { SizeColumn } from '../builds/sizes.ts'
import type { Verdict } from '../compare/size-change.ts'

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
