import { fieldPairs } from './field-pairs.ts'
import type { FieldValues } from '@serve-dist/manifest'

/** Fields that override defaults, by lower-case name. */
export type FieldOverrides = ReadonlyMap<string, FieldOverride>

/** A field with the letter case of its rule. The value `null` removes the default. */
interface FieldOverride {
  readonly name: string
  readonly value: string | null
}

/** One shared map for all files without a rule. */
const noOverrides: FieldOverrides = new Map()

/** Merges sets of fields. Later values replace earlier ones; names are case-insensitive. */
export function collectOverrides(sets: readonly FieldValues[]): FieldOverrides {
  if (sets.length === 0) return noOverrides
  const overrides = new Map<string, FieldOverride>()
  for (const set of sets) {
    for (const [name, value] of Object.entries(set)) overrides.set(name.toLowerCase(), { name, value })
  }
  return overrides
}

/**
 * Applies overrides to a flat list of alternating names and values. A default is replaced or removed, never
 * duplicated. `Vary` is extended (RFC 9110 §12.5.5).
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

/** Adds members to a `Vary`. `*` already includes every field. */
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
