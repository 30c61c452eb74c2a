/** @import { Cell } from './plan-cells.js' */
/** @import { PageNode, PageSize } from '../src/page/page-data.ts' */

/**
 * Makes the button of a box, with as many lines of text as fit.
 *
 * @param {Cell} cell
 * @param {{ column: number, measure: string }} shown - The index and the name of the shown size.
 */
export function makeBox(cell, { column, measure }) {
  const { node, rectangle, isOpen } = cell
  const size = node.sizes[column] ?? { bytes: 0, text: '' }
  const box = document.createElement('button')
  box.type = 'button'
  box.className = 'box'
  box.tabIndex = -1
  box.title = ''
  box.dataset['kind'] = node.kind
  if (isOpen) box.dataset['open'] = ''
  if (node.state !== undefined) box.dataset['state'] = node.state
  if (size.verdict !== undefined) box.dataset['verdict'] = size.verdict
  box.style.setProperty('--strength', String(size.strength ?? 0))
  box.style.left = `${rectangle.x}px`
  box.style.top = `${rectangle.y}px`
  box.style.width = `${rectangle.width}px`
  box.style.height = `${rectangle.height}px`
  box.setAttribute('aria-label', describeBox(cell, { column, size, measure }))
  box.append(...linesOf(cell, size))
  return box
}

/**
 * @param {Cell} cell
 * @param {PageSize} size
 */
function linesOf({ node, rectangle, isOpen }, size) {
  const { width, height } = rectangle
  if (width < 34 || height < 18) return []
  const name = textElement('bdi', 'box-name', node.kind === 'folder' ? `${node.name}/` : node.name)
  // A truncated size would look like another size.
  if (isOpen) {
    const text = width < 300 ? size.text : join(size)
    return width < 150 ? [name] : [name, textElement('span', 'box-size', text)]
  }
  const isWide = width >= 80
  return [
    name,
    ...(isWide && height >= 40 ? [textElement('span', 'box-size', size.text)] : []),
    ...(isWide && height >= 58 && size.change !== undefined
      ? [textElement('span', 'box-change', markOf(size) + size.change)]
      : []),
  ]
}

/**
 * @param {Cell} cell
 * @param {{ column: number, size: PageSize, measure: string }} shown
 */
function describeBox({ node }, { column, size, measure }) {
  const what =
    node.children === undefined ? node.kind : `folder of ${countDrawn(node.children, column)}, Enter opens it`
  return [node.path, `${size.text} ${measure}`, size.change, node.state === 'new' ? 'new' : undefined, what]
    .filter((part) => part !== undefined)
    .join(', ')
}

/**
 * Counts the files that the treemap shows. Removed files and files that are not downloaded again have no box.
 *
 * @param {readonly PageNode[]} children
 * @param {number} column
 */
function countDrawn(children, column) {
  return children.filter(({ sizes }) => (sizes[column]?.bytes ?? 0) > 0).length
}

/** @param {PageSize} size */
function join(size) {
  return size.change === undefined ? size.text : `${size.text} ${markOf(size)}${size.change}`
}

/**
 * Marks growth without colour, for people who cannot distinguish the colours.
 *
 * @param {PageSize} size
 */
function markOf({ verdict }) {
  if (verdict === 'larger') return '▲ '
  return verdict === 'smaller' ? '▼ ' : ''
}

/**
 * @param {'bdi' | 'span'} tag
 * @param {string} className
 * @param {string} text
 */
function textElement(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}
