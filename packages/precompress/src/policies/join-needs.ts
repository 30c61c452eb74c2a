import type { BuildPolicy } from '@serve-dist/manifest'
import type { PolicyNeed } from '../record/build-record.ts'

/** The sources that pages of a build need, by directive; each once, sorted. */
export function joinNeeds(needs: readonly PolicyNeed[]): BuildPolicy {
  const names = [...new Set(needs.map(({ directive }) => directive))].toSorted()
  const sourcesOf = (name: string): string[] =>
    needs.filter(({ directive }) => directive === name).map(({ source }) => source)
  return Object.fromEntries(names.map((name) => [name, [...new Set(sourcesOf(name))].toSorted()]))
}
