import { describe, expect, test } from 'vitest'
import { cell, layOutTable } from './text-table.ts'

const folder = 'a-folder/'.repeat(3)
const rows = [
  [[...cell(folder, 'dim'), ...cell('name.js')], cell('1.00 kB')],
  [cell(`${'漢'.repeat(14)}.js`), cell('1.00 kB')],
  [cell('short.js'), cell('12.00 kB')],
  [],
]

describe('layOutTable', () => {
  test('removes the start of long texts in the first column if the table is too wide', () => {
    expect(layOutTable(rows, { colors: false, width: 40 })).toEqual([
      '…der/a-folder/a-folder/name.js   1.00 kB',
      `…${'漢'.repeat(13)}.js   1.00 kB`,
      `short.js${' '.repeat(24)}12.00 kB`,
      '',
    ])
  })

  test.each([0, 20])('keeps 28 columns for the first column if the width is %i', (width) => {
    expect(layOutTable(rows, { colors: false, width })[0]).toBe('…r/a-folder/a-folder/name.js   1.00 kB')
  })
})
