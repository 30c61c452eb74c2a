import {
  type EnvironmentText,
  fieldProblem,
  type FieldValues,
  type PlainServingRules,
  type ServingRules,
} from '@serve-dist/manifest'
import { lookUpVariables, unfitForField, type VariableReader } from './variable-reader.ts'

/** Rules without variables, and a problem for each unset variable or invalid value. Problems never contain a value. */
export interface ResolvedFieldRules {
  readonly rules: readonly PlainServingRules[]
  readonly problems: readonly string[]
}

/**
 * Replaces environment variables in `cacheControl` and `headers` by their values. Values with a problem are omitted.
 *
 * @param read - returns the value of a variable; `undefined` or `''` if it is not set.
 */
export function resolveFieldVariables(
  sources: readonly ServingRules[],
  read: VariableReader,
): ResolvedFieldRules {
  const problems: string[] = []
  const textOf = lookUpVariables(read, problems)
  const valueOf = (value: string | null | EnvironmentText, name: string, place: string) => {
    if (typeof value === 'string' || value === null) return value
    return textOf(value, place, (text) => fieldProblem(name, text) && unfitForField)
  }
  const rules = sources.map((source): PlainServingRules => {
    const { cacheControl, headers, ...others } = source
    return {
      ...others,
      ...(cacheControl !== undefined && {
        cacheControl: mapValues(
          cacheControl,
          (value, glob) =>
            valueOf(value, 'Cache-Control', `cacheControl[${JSON.stringify(glob)}]`) ?? undefined,
        ),
      }),
      ...(headers !== undefined && {
        headers: mapValues(headers, (fields, glob): FieldValues =>
          mapValues(fields, (value, name) =>
            valueOf(value, name, `headers[${JSON.stringify(glob)}][${JSON.stringify(name)}]`),
          ),
        ),
      }),
    }
  })
  return { rules, problems }
}

/** Omits the keys for which `change` returns `undefined`. */
function mapValues<Value, Changed>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Changed | undefined,
): Readonly<Record<string, Changed>> {
  const entries = Object.entries(record).flatMap(([key, value]) => {
    const changed = change(value, key)
    return changed === undefined ? [] : [[key, changed] as const]
  })
  return Object.fromEntries(entries)
}
