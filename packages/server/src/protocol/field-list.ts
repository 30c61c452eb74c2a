import { fieldPairs } from './field-pairs.ts'
import type { FieldValues } from '@serve-dist/manifest'

/** Fields that override defaults, by lower-case name. */
export type FieldOverrides = ReadonlyMap<string, FieldOverride>

/** A field as somebody spelled it; the value `null` takes the default away. */
interface FieldOverride {
  readonly name: string
  readonly value: string | null
}

/** One map for all files without a rule. */
const noOverrides: FieldOverrides = new Map()

/** Several sets of fields as one: a later value replaces an earlier one, whatever the letters' case. */
export function collectOverrides(sets: readonly FieldValues[]): FieldOverrides {
  if (sets.length === 0) return noOverrides
  const overrides = new Map<string, FieldOverride>()
  for (const set of sets) {
    for (const [name, value] of Object.entries(set)) overrides.set(name.toLowerCase(), { name, value })
  }
  return overrides
}

/**
 * A flat list of fields (names and values by turns) with the overrides in their places: a default is
 * replaced or taken away, never doubled; `Vary` is extended (RFC 9110 §12.5.5).
 */
export function overrideFields(fields: readonly string[], overrides: FieldOverrides): readonly string[] {
  if (overrides.size === 0) return fields
  const result: string[] = []
  const left = new Map(overrides)
  for (const [name, value] of fieldPairs({ fields })) {
    const override = overrides.get(name.toLowerCase())
    left.delete(name.toLowerCase())
    if (override === undefined) result.push(name, value)
    else if (name === 'Vary') result.push(name, extendVary(override.value ?? '', value))
    else if (override.value !== null) result.push(override.name, override.value)
  }
  for (const { name, value } of left.values()) {
    if (value !== null) result.push(name, value)
  }
  return result
}

/** The members of a `Vary` with more of them; `*` says everything already. */
export function extendVary(existing: string, more: string): string {
  const members = membersOf(existing)
  for (const name of membersOf(more)) {
    const isThere = members.some((known) => known === '*' || known.toLowerCase() === name.toLowerCase())
    if (!isThere) members.push(name)
  }
  return members.join(', ')
}

function membersOf(list: string): string[] {
  return list
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
}
