/** A manifest that cannot be used; the message lists every problem with its JSON path. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
  /** One line each, such as `$.files[3].size: expected a whole number of bytes, found "12"`. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.problems = problems
  }
}
