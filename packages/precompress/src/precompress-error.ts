/** A pass that could not be done; the message lists every problem, each with its file and its fix. */
export class PrecompressError extends Error {
  override readonly name = 'PrecompressError'
  // Not a field: who prints the error, as Vite does, would print everything twice.
  readonly #problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.#problems = problems
  }

  /** One entry each, in the order of the files. */
  get problems(): readonly string[] {
    return this.#problems
  }
}
