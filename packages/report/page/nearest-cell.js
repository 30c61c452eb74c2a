/** @import { Cell } from './plan-cells.js' */

/** @type {Readonly<Record<string, readonly [number, number]>>} */
const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/**
 * Finds the nearest box in the direction of an arrow key. Boxes straight ahead win over boxes to the side.
 *
 * @param {readonly Cell[]} cells
 * @param {Cell} from
 * @param {string} key - As in `KeyboardEvent.key`.
 * @returns {Cell | undefined} `undefined` for other keys and at the edge.
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
 * Returns the middle of a box, or of the title of an open folder.
 *
 * @param {Cell} cell
 */
function anchorOf({ rectangle, isOpen }) {
  const { x, y, width, height } = rectangle
  return { x: x + width / 2, y: y + (isOpen ? 11 : height / 2) }
}
