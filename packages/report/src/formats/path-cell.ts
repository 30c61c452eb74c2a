import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { type Cell, cell } from '@serve-dist/foundation/terminal/text-table'
import type { FileKind } from '../builds/sizes.ts'

/** Formats a path as Vite does: a dimmed folder and a coloured name. Scripts are cyan and styles are magenta. */
export function pathCell(path: string, kind: FileKind): Cell {
  const slash = path.lastIndexOf('/') + 1
  const color = kind === 'js' ? 'cyan' : kind === 'css' ? 'magenta' : 'green'
  return [
    ...cell(escapeInvisible(path.slice(0, slash)), 'dim'),
    ...cell(escapeInvisible(path.slice(slash)), color),
  ]
}
