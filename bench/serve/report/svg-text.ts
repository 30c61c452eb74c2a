import type { Machine } from './report.ts'

/** Text as an SVG has it between tags. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** When and on what something was measured. */
export function describeRun({ date, machine }: { readonly date: string; readonly machine: Machine }): string {
  return `${date.slice(0, 10)}, ${machine.processor}, ${machine.cores} cores, ${machine.system}`
}
