/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */

/**
 * Divides an area among weights with nearly square rectangles ("Squarified Treemaps", Bruls, Huizing and van Wijk,
 * 2000).
 *
 * @param {readonly number[]} weights - Positive numbers, the largest first.
 * @param {Rectangle} area
 * @returns {Rectangle[]}
 */
export function layOutTreemap(weights, area) {
  const scale = (area.width * area.height) / weights.reduce((sum, weight) => sum + weight, 0)
  /** @type {Rectangle[]} */
  const rectangles = []
  let rest = area
  while (rectangles.length < weights.length) {
    const row = nextRow(weights.slice(rectangles.length), scale, Math.min(rest.width, rest.height))
    const size = row.reduce((sum, part) => sum + part, 0)
    rectangles.push(...placeRow(row, size, rest))
    rest = restOf(rest, size)
  }
  return rectangles
}

/**
 * Takes weights while the worst aspect ratio of their rectangles does not increase.
 *
 * @param {readonly number[]} weights
 * @param {number} scale
 * @param {number} side
 */
function nextRow(weights, scale, side) {
  /** @type {number[]} */
  const row = []
  let sum = 0
  let worst = Number.POSITIVE_INFINITY
  for (const weight of weights) {
    const part = weight * scale
    const next = sum + part
    const ratio = Math.max((side ** 2 * (row[0] ?? part)) / next ** 2, next ** 2 / (side ** 2 * part))
    if (row.length > 0 && !(ratio <= worst)) break
    row.push(part)
    sum = next
    worst = ratio
  }
  return row
}

/**
 * Places a row along the shorter side of the rest.
 *
 * @param {readonly number[]} row
 * @param {number} size
 * @param {Rectangle} rest
 */
function placeRow(row, size, rest) {
  const isColumn = rest.width >= rest.height
  const side = isColumn ? rest.height : rest.width
  const thickness = side === 0 ? 0 : size / side
  let offset = 0
  return row.map((part) => {
    const length = size === 0 ? 0 : (part / size) * side
    const rectangle = isColumn
      ? { x: rest.x, y: rest.y + offset, width: thickness, height: length }
      : { x: rest.x + offset, y: rest.y, width: length, height: thickness }
    offset += length
    return rectangle
  })
}

/**
 * @param {Rectangle} rest
 * @param {number} size
 */
function restOf(rest, size) {
  const { x, y, width, height } = rest
  const side = Math.min(width, height)
  const thickness = side === 0 ? 0 : size / side
  // Rounding could make a side negative.
  return width >= height
    ? { x: x + thickness, y, width: Math.max(0, width - thickness), height }
    : { x, y: y + thickness, width, height: Math.max(0, height - thickness) }
}
