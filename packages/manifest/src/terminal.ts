export { createProgressLine, type Progress, type ProgressLine } from './create-progress-line.ts'
export { type Cell, cell, layOutTable, paint, type TableOptions } from './text-table.ts'
