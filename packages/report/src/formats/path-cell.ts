import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { type Cell, cell } from '@serve-dist/foundation/terminal/text-table'
import type { FileKind } from '../builds/sizes.ts'

/** A path as Vite prints it: the folder dimmed, the name in its kind's colour; scripts cyan, styles magenta. */
export function pathCell(path: string, kind: FileKind): Cell {
  const slash = path.lastIndexOf('/') + 1
  const color = kind === 'js' ? 'cyan' : kind === 'css' ? 'magenta' : 'green'
  return [
    ...cell(escapeInvisible(path.slice(0, slash)), 'dim'),
    ...cell(escapeInvisible(path.slice(slash)), color),
  ]
}
