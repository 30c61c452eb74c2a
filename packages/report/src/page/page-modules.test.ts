import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { layOutTreemap, type Rectangle } from '../../page/lay-out-treemap.js'
import { nearestCell } from '../../page/nearest-cell.js'
import { type Cell, planCells } from '../../page/plan-cells.js'
import { createReport } from '../formats/create-report.ts'
import { pageData, type PageNode } from './page-data.ts'
import { readPageAssets } from './read-page-assets.ts'
import { makeManifest } from '../../test/support/make-manifest.ts'

const area = { x: 10, y: 20, width: 800, height: 500 }
const tolerance = 1e-6

function fits(inner: Rectangle, outer: Rectangle): boolean {
  return (
    inner.x >= outer.x - tolerance &&
    inner.y >= outer.y - tolerance &&
    inner.x + inner.width <= outer.x + outer.width + tolerance &&
    inner.y + inner.height <= outer.y + outer.height + tolerance
  )
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return (
    a.x + a.width > b.x + tolerance &&
    b.x + b.width > a.x + tolerance &&
    a.y + a.height > b.y + tolerance &&
    b.y + b.height > a.y + tolerance
  )
}

function tree(paths: readonly (readonly [path: string, size: number])[]): PageNode {
  return pageData(createReport(makeManifest(paths.map(([path, size]) => ({ path, size }))))).root
}

describe('layOutTreemap', () => {
  test('gives each weight its share of the area, without overlaps', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(weights, (unsorted) => {
        const sorted = unsorted.toSorted((a, b) => b - a)
        const total = sorted.reduce((sum, weight) => sum + weight, 0)
        const rectangles = layOutTreemap(sorted, area)
        expect(rectangles).toHaveLength(sorted.length)
        for (const [index, rectangle] of rectangles.entries()) {
          const share = (rectangle.width * rectangle.height) / (area.width * area.height)
          expect(share).toBeCloseTo((sorted[index] ?? 0) / total, 6)
          expect(fits(rectangle, area)).toBe(true)
          expect(rectangles.slice(index + 1).some((other) => overlap(rectangle, other))).toBe(false)
        }
      }),
    )
  })

  test('makes nearly square rectangles for equal weights', () => {
    const ratios = layOutTreemap(
      Array.from({ length: 24 }, () => 1),
      area,
    ).map(({ width, height }) => Math.max(width / height, height / width))
    expect(Math.max(...ratios)).toBeLessThan(2)
  })

  test('returns empty rectangles for an empty area', () => {
    const rectangles = layOutTreemap([3, 2, 1], { x: 0, y: 0, width: 0, height: 0 })
    expect(rectangles.every(({ width, height }) => width === 0 && height === 0)).toBe(true)
  })
})

describe('planCells', () => {
  test('places the children of a folder inside it and after it', () => {
    const cells = planCells(
      tree([
        ['assets/a.js', 400],
        ['assets/b/c.js', 300],
        ['index.html', 300],
      ]),
      area,
      0,
    )
    expect(cells.map(({ node }) => node.path)).toEqual([
      'assets/',
      'assets/a.js',
      'assets/b/',
      'assets/b/c.js',
      'index.html',
    ])
    for (const { parent, rectangle } of cells.slice(1, 4)) {
      const folder = cells.find((cell) => cell.node === parent)?.rectangle ?? area
      expect(fits(rectangle, folder)).toBe(true)
    }
  })

  test('omits empty files, and does not open a folder that is too small', () => {
    const cells = planCells(
      tree([
        ['a.js', 100_000],
        ['b/c.js', 1],
        ['empty.txt', 0],
      ]),
      area,
      0,
    )
    expect(cells.map(({ node, isOpen }) => [node.path, isOpen])).toEqual([
      ['a.js', false],
      ['b/', false],
    ])
  })

  test('joins the smallest files in one box of the same total size', () => {
    const files = Array.from({ length: 500 }, (_, index) => [`${index}.js`, 1000 + index] as const)
    const cells = planCells(tree(files), area, 0)
    const rest = cells.find(({ node }) => node.kind === 'more')
    expect(cells).toHaveLength(121)
    expect(rest?.node.name).toBe('380 smaller')
    expect(rest?.node.sizes[0]?.bytes).toBe(380 * 1000 + (379 * 380) / 2)
    expect(planCells(rest?.node ?? tree([]), area, 0)).toHaveLength(121)
  })
})

describe('nearestCell', () => {
  const cells = [
    [0, 0],
    [100, 0],
    [0, 100],
    [100, 100],
  ].map(([x = 0, y = 0]): Cell => {
    const node = tree([[`${x}-${y}.js`, 1]])
    return { node, parent: node, rectangle: { x, y, width: 100, height: 100 }, isOpen: false }
  })

  test.each([
    [0, 'ArrowRight', 1],
    [0, 'ArrowDown', 2],
    [3, 'ArrowLeft', 2],
    [3, 'ArrowUp', 1],
    [0, 'ArrowLeft', -1],
    [0, 'a', -1],
  ])('leads from box %i with %s to box %i', (from, key, to) => {
    const start = cells[from]
    const found = start && nearestCell(cells, start, key)
    expect(cells.findIndex((cell) => cell === found)).toBe(to)
  })

  test('reaches every box by arrow keys', () => {
    const paths = Array.from(
      { length: 30 },
      (_, index) => [`${'abc'[index % 3]}/${index}.js`, 1 + index ** 2] as const,
    )
    const boxes = planCells(tree(paths), area, 0)
    const reached = new Set(boxes.slice(0, 1))
    for (const box of reached) {
      for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
        const next = nearestCell(boxes, box, key)
        if (next !== undefined) reached.add(next)
      }
    }
    expect(reached.size).toBe(boxes.length)
  })
})

describe('readPageAssets', () => {
  test('joins the modules into one without imports and exports', async () => {
    const { script, style } = await readPageAssets()
    expect(script).not.toMatch(/^\s*(?:import|export)\b/m)
    expect(script).toContain('function layOutTreemap(')
    expect(style).toContain('prefers-color-scheme: dark')
  })

  test('contains no text that ends its own element', async () => {
    const { script, style } = await readPageAssets()
    expect(script + style).not.toMatch(/<\/(?:script|style)|<!--/i)
  })
})
