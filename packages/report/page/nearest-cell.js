/** @import { Cell } from './plan-cells.js' */

/** @type {Readonly<Record<string, readonly [number, number]>>} */
const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/**
 * The box that an arrow key leads to: the nearest in its direction, what lies straight ahead before what
 * lies aside.
 *
 * @param {readonly Cell[]} cells
 * @param {Cell} from
 * @param {string} key - As in `KeyboardEvent.key`.
 * @returns {Cell | undefined} Nothing for other keys and at the edge.
 */
export function nearestCell(cells, from, key) {
  const direction = directions[key]
  if (direction === undefined) return undefined
  const start = anchorOf(from)
  let nearest
  let shortest = Number.POSITIVE_INFINITY
  for (const cell of cells) {
    const end = anchorOf(cell)
    const across = [end.x - start.x, end.y - start.y]
    const ahead = (across[0] ?? 0) * direction[0] + (across[1] ?? 0) * direction[1]
    const aside = Math.abs((across[0] ?? 0) * direction[1]) + Math.abs((across[1] ?? 0) * direction[0])
    if (cell === from || ahead < 1) continue
    const distance = ahead + 3 * aside
    if (distance >= shortest) continue
    shortest = distance
    nearest = cell
  }
  return nearest
}

/**
 * The middle of a box; of an open folder the middle of its title.
 *
 * @param {Cell} cell
 */
function anchorOf({ rectangle, isOpen }) {
  const { x, y, width, height } = rectangle
  return { x: x + width / 2, y: y + (isOpen ? 11 : height / 2) }
}
