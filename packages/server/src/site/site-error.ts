/** A folder that cannot be served as it is; the message lists every problem. */
export class SiteError extends Error {
  override readonly name = 'SiteError'
  /** One line each, with what is wrong, where, and how to mend it. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options)
    this.problems = problems
  }
}
