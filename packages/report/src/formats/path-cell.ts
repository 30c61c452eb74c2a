import type { Colors } from './create-colors.ts'
import type { FileKind } from '../builds/file-kind.ts'
import { formatPath } from '../builds/format-path.ts'
import { joinCells, type TextCell, textCell } from './text-table.ts'

/** A path as Vite prints it: the folder dimmed, the name in the colour of its kind. */
export function pathCell(path: string, kind: FileKind, colors: Colors): TextCell {
  const slash = path.lastIndexOf('/') + 1
  return joinCells([
    textCell(formatPath(path.slice(0, slash)), colors.dim),
    textCell(formatPath(path.slice(slash)), colorOf(kind, colors)),
  ])
}

/** Vite's colours: scripts cyan, styles magenta, pages and the rest green. */
function colorOf(kind: FileKind, colors: Colors): (text: string) => string {
  if (kind === 'js') return colors.cyan
  return kind === 'css' ? colors.magenta : colors.green
}
