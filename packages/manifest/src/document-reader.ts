import { mismatch, show } from '@serve-dist/foundation/values/mismatch'
import { pathProblem } from './path-problem.ts'

const dateForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** One value of a document with its place in it: each check answers the value, or notes a problem. */
export class DocumentReader {
  readonly value: unknown
  readonly #key: string | number
  readonly #holder: DocumentReader | string[]

  /**
   * @param key - of the whole document: its name, which each place begins with.
   * @param holder - the value that it is a part of; of the whole document: where problems are noted.
   */
  constructor(key: string | number, value: unknown, holder: DocumentReader | string[]) {
    this.#key = key
    this.value = value
    this.#holder = holder
  }

  /** Put together for messages only: a manifest of 10,000 files has 200,000 of them. */
  get place(): string {
    return Array.isArray(this.#holder) ? String(this.#key) : placeOf(this.#holder.place, this.#key)
  }

  get isObject(): boolean {
    return isRecord(this.value)
  }

  /** The keys of an object; none of anything else. */
  keys(): readonly string[] {
    return isRecord(this.value) ? Object.keys(this.value) : []
  }

  field(name: string): DocumentReader {
    // An own property only: a document must not reach `Object.prototype` through a missing field.
    const { value } = this
    const isThere = isRecord(value) && Object.hasOwn(value, name)
    return new DocumentReader(name, isThere ? value[name] : undefined, this)
  }

  list<Item>(read: (item: DocumentReader) => Item): Item[] {
    if (!Array.isArray(this.value)) {
      this.expected('a list')
      return []
    }
    const items: readonly unknown[] = this.value
    return items.map((item, index) => read(new DocumentReader(index, item, this)))
  }

  /** An object whose keys are free. */
  record<Item>(read: (item: DocumentReader, key: string) => Item): Record<string, Item> {
    if (!this.isObject) this.expected('an object')
    return Object.fromEntries(this.keys().map((key) => [key, read(this.field(key), key)]))
  }

  boolean(): boolean {
    if (typeof this.value !== 'boolean') this.expected('true or false')
    return this.value === true
  }

  where(holds: (text: string) => boolean, expected: string): string {
    const { value } = this
    return typeof value === 'string' && holds(value) ? value : this.#refuse(expected)
  }

  matching(form: RegExp, expected: string): string {
    const { value } = this
    return typeof value === 'string' && form.test(value) ? value : this.#refuse(expected)
  }

  date(): string {
    return this.where(isDate, 'a date such as "2026-01-31T12:00:00Z"')
  }

  servablePath(): string {
    const { value } = this
    if (typeof value !== 'string') return this.#refuse('a path')
    const problem = pathProblem(value)
    return problem === undefined ? value : this.#refuse(`a path that can be served, but ${problem}`)
  }

  byteCount(): number {
    return this.#natural('a whole number of bytes')
  }

  count(): number {
    return this.#natural('a whole number')
  }

  oneOf<const Choice extends string>(choices: readonly [Choice, ...Choice[]]): Choice {
    const found = choices.find((choice) => choice === this.value)
    if (found === undefined) this.expected(`one of ${choices.map(show).join(', ')}`)
    return found ?? choices[0]
  }

  /** Notes that something else was expected here. */
  expected(expected: string): void {
    this.problem(mismatch(expected, this.value))
  }

  /** Notes what is wrong here. */
  problem(text: string): void {
    const { place } = this
    this.#note(place === '' ? text : `${place}: ${text}`)
  }

  #natural(expected: string): number {
    const { value } = this
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
    this.expected(expected)
    return 0
  }

  /** The stand-in is never seen: a noted problem makes the parser throw. */
  #refuse(expected: string): '' {
    this.expected(expected)
    return ''
  }

  #note(problem: string): void {
    if (Array.isArray(this.#holder)) this.#holder.push(problem)
    else this.#holder.#note(problem)
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

let lastDate = ''

/** The files of a build mostly share one time. */
function isDate(text: string): boolean {
  if (text !== lastDate) {
    if (!dateForm.test(text) || Number.isNaN(Date.parse(text))) return false
    lastDate = text
  }
  return true
}

/** `a[0]` for an index, `a.b` for a name, `a["b c"]` for any other key. */
function placeOf(place: string, key: string | number): string {
  if (typeof key === 'number') return `${place}[${key}]`
  const own = /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
  return place === '' ? own.replace(/^\./, '') : place + own
}
