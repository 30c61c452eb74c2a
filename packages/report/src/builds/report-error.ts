/** A report that cannot be made as it was asked for; the message lists every problem. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
  // Not a field: who prints the error, as Vite does, would print everything twice.
  readonly #problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.#problems = problems
  }

  /** One entry each: what is wrong, where, and how to mend it. */
  get problems(): readonly string[] {
    return this.#problems
  }
}
