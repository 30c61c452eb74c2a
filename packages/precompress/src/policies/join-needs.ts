import type { BuildPolicy } from '@serve-dist/manifest'
import type { PolicyNeed } from '../record/build-record.ts'

/** Combines needs into a policy: the sources of each directive, unique and sorted. */
export function joinNeeds(needs: readonly PolicyNeed[]): BuildPolicy {
  const names = [...new Set(needs.map(({ directive }) => directive))].toSorted()
  const sourcesOf = (name: string): string[] =>
    needs.filter(({ directive }) => directive === name).map(({ source }) => source)
  return Object.fromEntries(names.map((name) => [name, [...new Set(sourcesOf(name))].toSorted()]))
}
