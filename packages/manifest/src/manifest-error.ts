/** A manifest that cannot be used; the message lists every problem with its JSON path. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  // Not a field: who prints the error, as Vite does, would print everything twice.
  readonly #problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.#problems = problems
  }

  /** One line each, such as `$.files[3].size: expected a whole number of bytes, found "12"`. */
  get problems(): readonly string[] {
    return this.#problems
  }
}
