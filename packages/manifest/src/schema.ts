import * as v from 'valibot'
import { describeMismatch, formatValue } from '@serve-dist/foundation/values/describe-mismatch'

// Only this file imports valibot. The bundle therefore contains it once, and no published type depends on it
// (docs/decisions/031-one-schema.md).

/** The schema of a value, which checks and converts it. */
export interface Schema<Output> {
  readonly '~standard': { readonly types?: { readonly output: Output } | undefined }
}

/** The schema of an optional field. */
export interface OptionalSchema<Output> extends Schema<Output | undefined> {
  readonly type: 'optional'
}

/** A schema for each field of an object. */
export type Fields<Type> = {
  readonly [Name in keyof Type]-?: undefined extends Type[Name]
    ? OptionalSchema<Exclude<Type[Name], undefined>>
    : Schema<Type[Name]>
}

/** Adds a problem of a value, or of a part at the given keys. Ignores `undefined`. */
export type NoteProblem = (problem: string | undefined, ...keys: readonly PropertyKey[]) => void

/**
 * Reads a value.
 *
 * @param place - the name of the value for messages; `''` for a value without a name.
 * @param fail - creates the error from all problems, each `place: problem`.
 */
export function read<Output>(
  schema: Schema<Output>,
  value: unknown,
  place: string,
  fail: (problems: readonly string[]) => Error,
): Output {
  const result = v.safeParse(ofValibot(schema), value)
  if (result.success) return result.output
  throw fail(result.issues.map((issue) => describe(issue, place)))
}

/** Returns all problems of a value. Their places are relative to the value. */
export function problemsOf(schema: Schema<unknown>, value: unknown): readonly string[] {
  return (v.safeParse(ofValibot(schema), value).issues ?? []).map((issue) => describe(issue, ''))
}

export const anything: Schema<unknown> = v.unknown()

export const trueOrFalse: Schema<boolean> = booleanOf('true or false')

export function booleanOf(what: string): Schema<boolean> {
  return v.boolean(expected(what))
}

/** Creates the schema of any value that a function accepts. */
export function expecting<Output>(what: string, holds: (value: unknown) => boolean): Schema<Output> {
  return v.custom<Output>(holds, expected(what))
}

/** Creates the schema of a text that matches a regular expression or a function. */
export function text(what: string, holds: RegExp | ((text: string) => boolean) = () => true): Schema<string> {
  const message = expected(what)
  return v.pipe(
    v.string(message),
    holds instanceof RegExp ? v.regex(holds, message) : v.check(holds, message),
  )
}

/** Creates the schema of a whole number from 0. */
export function wholeNumber(what: string, most: number = Number.MAX_SAFE_INTEGER): Schema<number> {
  const message = expected(what)
  const holds = (value: number): boolean => Number.isSafeInteger(value) && value >= 0 && value <= most
  return v.pipe(v.number(message), v.check(holds, message))
}

export function oneOf<const Choice extends string | number>(choices: readonly Choice[]): Schema<Choice> {
  return v.picklist(choices, expected(`one of ${choices.map(formatValue).join(', ')}`))
}

export function listOf<Item>(item: Schema<Item>): Schema<Item[]> {
  return v.array(ofValibot(item), expected('a list'))
}

/** Creates the schema of an object with any keys. */
export function recordOf<Value>(
  value: Schema<Value>,
  key: Schema<string> = text('a key'),
): Schema<Record<string, Value>> {
  const [keys, values] = [ofValibot(key), ofValibot(value)]
  // `v.record` would omit `__proto__`, `constructor` and `prototype`.
  const map = v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(isRecord, expected('an object')),
    v.transform((given) => new Map<unknown, unknown>(Object.entries(given))),
    v.map(keys, values),
    v.transform((entries): Record<string, Value> => Object.fromEntries(entries)),
  )
  return readingBy(v.record(v.string(), values), () => map)
}

/** The texts of problems with an object. */
export interface ObjectForm {
  /** The expected value. @default 'an object' */
  readonly what?: string
  /** Returns the problem of an unknown key. Without this function, unknown keys are ignored. */
  readonly unknownKey?: (key: string, known: readonly string[]) => string
  /** Returns the problem of a missing key. By default, the schema of the key describes it. */
  readonly missingKey?: (key: string, given: Readonly<Record<string, unknown>>) => string | undefined
}

export function objectOf<Type extends object>(
  fields: Fields<Type>,
  { what = 'an object', unknownKey, missingKey }: ObjectForm = {},
): Schema<Type> {
  const named = Object.entries<Schema<unknown>>(fields)
  const entries = Object.fromEntries(named.map(([name, schema]) => [name, ofValibot(schema)]))
  // For a missing field, use the message of its own schema.
  const message = ({ input, path }: v.BaseIssue<unknown>): string => {
    const [item] = path ?? []
    const key = String(item?.key)
    const missing = isRecord(item?.input) ? missingKey?.(key, item.input) : undefined
    if (missing !== undefined) return missing
    const field = entries[key]
    return (field && v.safeParse(field, undefined).issues?.[0].message) ?? describeMismatch(what, input)
  }
  const object =
    unknownKey === undefined ? v.object(entries, message) : closedObject(entries, message, unknownKey)
  const refused = v.custom(() => false, message)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is a schema for each field of it
  return readingBy(object, (value) => (isRecord(value) ? object : refused)) as Schema<Type>
}

/** Creates the schema of an object or another value. Each has its own schema, so that problems match the given kind. */
export function objectOr<Type, Other>(object: Schema<Type>, other: Schema<Other>): Schema<Type | Other> {
  const [forObjects, forOthers] = [ofValibot(object), ofValibot(other)]
  return readingBy(v.union([forObjects, forOthers]), (value) => (isRecord(value) ? forObjects : forOthers))
}

/** Creates the schema of a value or of a function that returns it. */
export function functionOr<Output>(
  schema: Schema<Output>,
): Schema<Output | (() => Output | Promise<Output>)> {
  const forFunctions = v.custom<() => Output | Promise<Output>>((value) => typeof value === 'function')
  const forOthers = ofValibot(schema)
  return readingBy(v.union([forFunctions, forOthers]), (value) =>
    typeof value === 'function' ? forFunctions : forOthers,
  )
}

export function orNull<Output>(schema: Schema<Output>): Schema<Output | null> {
  return v.nullable(ofValibot(schema))
}

export function optional<Output>(schema: Schema<Output | undefined>): OptionalSchema<Output> {
  return v.optional(ofValibot(schema))
}

/** Creates a schema with a default. `makeDefault` returns the input of the schema. */
export function withDefault<Output>(
  schema: Schema<Output>,
  makeDefault: () => object | string | number | boolean,
): Schema<Output> {
  return v.optional(ofValibot(schema), makeDefault)
}

/** Returns the default of a schema. */
export function defaultOf<Output>(schema: Schema<Output>): Output {
  return read(schema, undefined, '', ([problem]) => new TypeError(problem))
}

/** Creates a schema at its first use. Most starts need no schema of policies, which saves 4 ms. */
export function lazy<Output>(make: () => Schema<Output>): Schema<Output> {
  let made: v.GenericSchema<unknown, Output> | undefined
  return v.lazy(() => (made ??= ofValibot(make())))
}

/** Adds a check of the converted value. */
export function checked<Output>(
  schema: Schema<Output>,
  check: (value: Output, note: NoteProblem) => void,
): Schema<Output> {
  return v.pipe(
    ofValibot(schema),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      check(dataset.value, (message, ...keys) => {
        const [first, ...rest] = keys.map(pathItem)
        if (message === undefined) return
        addIssue({ message, ...(first !== undefined && { path: [first, ...rest] }) })
      })
    }),
  )
}

/** Converts a valid value. */
export function converted<Input, Output>(
  schema: Schema<Input>,
  convert: (value: Input) => Output,
): Schema<Output> {
  return v.pipe(ofValibot(schema), v.transform(convert))
}

/** Creates a schema that reports one problem, because a document of another server may have millions. */
export function firstProblemOf<Output>(schema: Schema<Output>): Schema<Output> {
  const all = ofValibot(schema)
  const first: typeof all = {
    ...all,
    '~run': (dataset, config) => all['~run'](dataset, { ...config, abortEarly: true }),
  }
  return first
}

/** Creates a schema from a parser. The message of its error is the problem. */
export function readableBy<Output>(parse: (value: never) => Output): Schema<Output> {
  return v.pipe(
    v.unknown(),
    v.rawTransform<unknown, Output>(({ dataset, addIssue, NEVER }) => {
      try {
        return Reflect.apply(parse, undefined, [dataset.value])
      } catch (error) {
        addIssue({ message: error instanceof Error ? error.message : String(error) })
        return NEVER
      }
    }),
  )
}

function closedObject(
  entries: v.ObjectEntries,
  message: (issue: v.BaseIssue<unknown>) => string,
  unknownKey: NonNullable<ObjectForm['unknownKey']>,
): v.GenericSchema {
  const known = Object.keys(entries)
  const object = v.pipe(
    v.looseObject(entries, message),
    v.rawCheck(({ dataset, addIssue }) => {
      for (const key of Object.keys(Object(dataset.value)).filter((name) => !known.includes(name))) {
        addIssue({ message: unknownKey(key, known), path: [pathItem(key)] })
      }
    }),
  )
  return {
    ...object,
    '~run': ({ value }, config) =>
      object['~run']({ value: isRecord(value) ? omitUndefined(value) : value }, config),
  }
}

/** Removes `undefined` values, because they count as missing options. */
function omitUndefined(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Creates a schema that selects another schema for each value. `schema` describes its type. */
function readingBy<Output>(
  schema: v.GenericSchema<unknown, Output>,
  choose: (value: unknown) => v.GenericSchema<unknown, Output>,
): v.GenericSchema<unknown, Output> {
  return { ...schema, '~run': (dataset, config) => choose(dataset.value)['~run'](dataset, config) }
}

function ofValibot<Output>(schema: Schema<Output>): v.GenericSchema<unknown, Output> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every schema is made by this file
  return schema as v.GenericSchema<unknown, Output>
}

function expected(what: string): (issue: v.BaseIssue<unknown>) => string {
  return ({ input }) => describeMismatch(what, input)
}

function pathItem(key: PropertyKey): v.UnknownPathItem {
  return { type: 'unknown', origin: 'value', input: undefined, key, value: undefined }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describe({ path, message }: v.BaseIssue<unknown>, place: string): string {
  const whole = path?.reduce((outer, { key }) => appendKey(outer, key), place) ?? place
  return whole === '' ? message : `${whole}: ${message}`
}

/** Appends a key: `a[0]` for an index, `a.b` for a name, `a["b c"]` for other keys. */
function appendKey(place: string, key: unknown): string {
  if (typeof key === 'number') return `${place}[${key}]`
  const name = String(key)
  const own = /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
  return place === '' ? own.replace(/^\./, '') : place + own
}
