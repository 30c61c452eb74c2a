import { layOutTreemap } from './lay-out-treemap.js'

/** @import { Rectangle } from './lay-out-treemap.js' */
/** @import { PageNode } from '../src/page/page-data.ts' */

/**
 * A box of the treemap and its folder. An open folder shows its children below its title.
 *
 * @typedef {{ node: PageNode, parent: PageNode, rectangle: Rectangle, isOpen: boolean }} Cell
 */

/** The height of an open folder's title, as in report.css. */
const titleHeight = 22
const padding = 3
/** The minimum size of an open folder. The boxes in a smaller one would be illegible. */
const smallestOpen = { width: 64, height: 52 }
/** The maximum number of boxes in a folder. One more box joins the smallest children. */
const mostChildren = 120

/**
 * Lays out all boxes of a folder. Folders come before their children.
 *
 * @param {PageNode} folder
 * @param {Rectangle} area
 * @param {number} column - The index of the shown size.
 * @returns {Cell[]}
 */
export function planCells(folder, area, column) {
  const children = largestChildren(folder, column)
  const rectangles = layOutTreemap(
    children.map((child) => weigh(child, column)),
    area,
  )
  /** @type {Cell[]} */
  const cells = []
  for (const [index, rectangle] of rectangles.entries()) {
    const node = children[index]
    if (node === undefined) continue
    const isOpen = opens(node, rectangle)
    cells.push({ node, parent: folder, rectangle, isOpen })
    if (isOpen) cells.push(...planCells(node, insideOf(rectangle), column))
  }
  return cells
}

/**
 * @param {PageNode} node
 * @param {Rectangle} rectangle
 */
function opens({ kind }, { width, height }) {
  return kind === 'folder' && width >= smallestOpen.width && height >= smallestOpen.height
}

/**
 * @param {PageNode} folder
 * @param {number} column
 */
function largestChildren(folder, column) {
  const children = (folder.children ?? [])
    .filter((child) => weigh(child, column) > 0)
    .toSorted((a, b) => weigh(b, column) - weigh(a, column))
  if (children.length <= mostChildren) return children
  const rest = children.slice(mostChildren)
  return [...children.slice(0, mostChildren), joinNodes(folder, rest)].toSorted(
    (a, b) => weigh(b, column) - weigh(a, column),
  )
}

/**
 * @param {PageNode} folder
 * @param {PageNode[]} children
 * @returns {PageNode}
 */
function joinNodes(folder, children) {
  const sizes = folder.sizes.map((_, column) => {
    const bytes = children.reduce((sum, child) => sum + weigh(child, column), 0)
    const [value, unit] = bytes < 999_995 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB']
    const text = value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    return { bytes, text: `${text} ${unit}` }
  })
  const name = `${children.length} smaller`
  return { name, path: `${folder.path}${name}`, kind: 'more', sizes, children }
}

/**
 * @param {PageNode} node
 * @param {number} column
 */
function weigh(node, column) {
  return node.sizes[column]?.bytes ?? 0
}

/** @param {Rectangle} rectangle */
function insideOf({ x, y, width, height }) {
  return {
    x: x + padding,
    y: y + titleHeight,
    width: width - 2 * padding,
    height: height - titleHeight - padding,
  }
}
