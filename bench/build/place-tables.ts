import type { BuildReport } from './build-report.ts'
import { formatBuildTable } from './format-build-table.ts'
import { formatTargets, targetsOf } from './targets-of.ts'

/**
 * Puts the tables of a report into a document, each between the marks of its tree; other trees' stay.
 *
 * @throws TypeError when the document has no place for a tree.
 */
export function placeTables(document: string, report: BuildReport): string {
  let placed = document
  for (const table of report.tables) {
    const begin = `<!-- measured: ${table.tree} -->`
    const end = `<!-- end of ${table.tree} -->`
    const from = placed.indexOf(begin)
    const to = placed.indexOf(end, from)
    if (from === -1 || to === -1) throw new TypeError(`expected "${begin}" and "${end}" in the document`)
    const parts = [
      `### ${table.title}`,
      formatBuildTable(table),
      formatTargets(targetsOf(table, report.machine.cores), table.codecSample).replaceAll(/^/gm, '- '),
      originOf(report),
    ]
    placed = `${placed.slice(0, from)}${begin}\n\n${parts.join('\n\n')}\n\n${placed.slice(to)}`
  }
  return placed
}

function originOf({ command, date, machine }: BuildReport): string {
  const { processor, cores, memoryBytes, system, node } = machine
  const memory = Math.round(memoryBytes / 2 ** 30)
  return `Measured on ${date.slice(0, 10)} with \`${command}\`: Node.js ${node}, ${system}, ${cores} cores of ${processor}, ${memory} GiB.`
}
