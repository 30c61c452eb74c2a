import { makeBox } from './make-box.js'
import { nearestCell } from './nearest-cell.js'
import { planCells } from './plan-cells.js'

/** @import { Cell } from './plan-cells.js' */
/** @import { PageData, PageNode } from '../src/page/page-data.ts' */

/** @type {PageData} */
const data = JSON.parse(elementOf('data').textContent ?? '')
const stage = elementOf('treemap')
const trailElement = elementOf('trail')
const details = elementOf('details')
const announcement = elementOf('announcement')

let trail = [data.root]
let column = Math.max(0, data.columns.indexOf('sent'))
/** @type {Cell[]} */
let cells = []
/** @type {HTMLButtonElement[]} */
let boxes = []
let activeIndex = 0

for (const radio of document.querySelectorAll('input[name="column"]')) {
  radio.addEventListener('change', () => {
    column = data.columns.findIndex((name) => name === valueOf(radio))
    draw()
  })
}
for (const radio of document.querySelectorAll('input[name="colours"]')) {
  radio.addEventListener('change', () => {
    stage.dataset['colours'] = valueOf(radio)
  })
}
stage.addEventListener('click', (event) => {
  const index = indexOf(event.target)
  if (index !== undefined) open(index)
})
stage.addEventListener('focusin', (event) => {
  const index = indexOf(event.target)
  if (index !== undefined) activate(index)
})
stage.addEventListener('pointerover', (event) => {
  const index = indexOf(event.target)
  if (index !== undefined) showDetails(cells[index]?.node)
})
stage.addEventListener('pointerleave', () => showDetails(cells[activeIndex]?.node))
stage.addEventListener('keydown', (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return
  const target = targetOf(event.key)
  if (event.key === 'Escape') goUp(trail.length - 2)
  else if (target !== undefined) focusOn(target)
  else return
  event.preventDefault()
})
// The observer also calls this for the first drawing.
new ResizeObserver(() => draw()).observe(stage)

/**
 * Draws the shown folder again. The active box stays active.
 *
 * @param {string} [path] - The path of another box to activate.
 */
function draw(path = cells[activeIndex]?.node.path) {
  const hadFocus = stage.contains(document.activeElement)
  const { clientWidth: width, clientHeight: height } = stage
  const measure = data.columns[column] ?? 'identity'
  cells = planCells(shownFolder(), { x: 0, y: 0, width, height }, column)
  boxes = cells.map((cell) => makeBox(cell, { column, measure }))
  stage.replaceChildren(...boxes)
  stage.dataset['empty'] = String(cells.length === 0)
  drawTrail()
  activate(
    Math.max(
      0,
      cells.findIndex(({ node }) => node.path === path),
    ),
  )
  if (hadFocus) focusOn(activeIndex)
}

/** Opens a folder, or the folder of a file. */
function open(/** @type {number} */ index) {
  const cell = cells[index]
  if (cell === undefined) return
  const { node, parent } = cell
  const target = node.children === undefined ? parent : node
  if (target === shownFolder()) return
  trail = [...trailTo(parent), ...(node.children === undefined ? [] : [node])]
  draw(node.path)
  announce()
}

function goUp(/** @type {number} */ depth) {
  const left = trail[depth + 1]
  if (depth < 0 || left === undefined) return
  trail = trail.slice(0, depth + 1)
  draw(left.path)
  announce()
}

function announce() {
  const folder = shownFolder()
  const name = folder.path === '' ? 'the whole build' : folder.path
  announcement.textContent = `Showing ${name}, ${folder.sizes[column]?.text ?? ''}`
}

/**
 * Returns the folders from the root to a visible folder.
 *
 * @param {PageNode} folder
 * @returns {PageNode[]}
 */
function trailTo(folder) {
  const shown = shownFolder()
  if (folder === shown) return trail
  return [...trail, ...(pathBetween(shown, folder) ?? [])]
}

/**
 * @param {PageNode} from
 * @param {PageNode} to
 * @returns {PageNode[] | undefined}
 */
function pathBetween(from, to) {
  for (const child of from.children ?? []) {
    if (child === to) return [child]
    const rest = pathBetween(child, to)
    if (rest !== undefined) return [child, ...rest]
  }
  return undefined
}

function drawTrail() {
  trailElement.replaceChildren(
    ...trail.map((folder, depth) => {
      const item = document.createElement('li')
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = depth === 0 ? 'whole build' : folder.name
      if (depth === trail.length - 1) button.setAttribute('aria-current', 'true')
      button.addEventListener('click', () => {
        goUp(depth)
        focusOn(activeIndex)
      })
      item.append(button)
      return item
    }),
  )
}

/** Makes a box the only one in the tab order. Arrow keys lead to the other boxes. */
function activate(/** @type {number} */ index) {
  const earlier = boxes[activeIndex]
  if (earlier !== undefined) earlier.tabIndex = -1
  activeIndex = index
  const box = boxes[index]
  if (box !== undefined) box.tabIndex = 0
  showDetails(cells[index]?.node)
}

function focusOn(/** @type {number} */ index) {
  boxes[index]?.focus({ preventScroll: false })
}

/** @returns {number | undefined} */
function targetOf(/** @type {string} */ key) {
  const from = cells[activeIndex]
  if (from === undefined) return undefined
  if (key === 'Home') return 0
  if (key === 'End') return cells.length - 1
  const nearest = nearestCell(cells, from, key)
  return nearest === undefined ? undefined : cells.indexOf(nearest)
}

function showDetails(/** @type {PageNode | undefined} */ node) {
  if (node === undefined) {
    details.replaceChildren()
    return
  }
  const name = document.createElement('bdi')
  name.className = 'details-name'
  name.textContent = node.path === '' ? 'whole build' : node.path
  const sizes = node.sizes.map((size, index) => {
    const item = document.createElement('span')
    item.className = 'details-size'
    if (size.verdict !== undefined) item.dataset['verdict'] = size.verdict
    const label = document.createElement('span')
    label.className = 'details-label'
    const measure = data.columns[index] ?? ''
    label.textContent = measure === 'identity' ? 'size' : measure
    const change = size.change === undefined ? '' : ` ${size.change}`
    item.append(label, ` ${size.text}${change}`)
    return item
  })
  details.replaceChildren(name, ...sizes)
}

function shownFolder() {
  return trail.at(-1) ?? data.root
}

/** @returns {number | undefined} */
function indexOf(/** @type {EventTarget | null} */ target) {
  const box = target instanceof Element ? target.closest('button.box') : null
  const index = boxes.findIndex((candidate) => candidate === box)
  return index === -1 ? undefined : index
}

function valueOf(/** @type {Element} */ radio) {
  return radio.getAttribute('value') ?? ''
}

function elementOf(/** @type {string} */ id) {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}
