import { escapeMessage } from '@serve-dist/foundation/text/escape-invisible'

/** The stable code of an error. docs/errors.md describes each code and its fix. */
export type OperatorErrorCode =
  | 'SD_APPLICATION_UNUSABLE'
  | 'SD_BUILD_CHANGED'
  | 'SD_BUILD_NOT_FOUND'
  | 'SD_BUILD_UNFINISHED'
  | 'SD_CACHE_UNUSABLE'
  | 'SD_CONFIG_INVALID'
  | 'SD_ENVIRONMENT_INVALID'
  | 'SD_FOLDER_UNREADABLE'
  | 'SD_FOLDER_WRONG'
  | 'SD_LISTEN_FAILED'
  | 'SD_ENGINE_UNAVAILABLE'
  | 'SD_MANIFEST_INVALID'
  | 'SD_MANIFEST_LOST'
  | 'SD_MANIFEST_MISMATCH'
  | 'SD_MANIFEST_MISSING'
  | 'SD_OPTION_INVALID'
  | 'SD_PAGES_UNLISTED'
  | 'SD_PACKAGE_MISSING'
  | 'SD_PASS_FAILED'
  | 'SD_REPORT_FAILED'
  | 'SD_GENERATION_MISSING'
  | 'SD_SITE_INVALID'
  | 'SD_SITE_UNAVAILABLE'
  | 'SD_STORE_CONFLICT'
  | 'SD_STORE_INVALID'
  | 'SD_STORE_UNAVAILABLE'
  | 'SD_STORE_UNCONDITIONAL'
  | 'SD_TLS_UNUSABLE'
  | 'SD_VITE_UNSUPPORTED'
  | 'SD_WORKERS_FAILED'
  | 'SD_WRITE_FAILED'

export interface OperatorErrorOptions extends ErrorOptions {
  /** The first line of the message. The problems follow, indented. */
  readonly heading?: string
}

/**
 * An error that the operator of a build or server can fix. The message lists every problem with its place and its fix.
 */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  /** The code, which is stable across releases. */
  readonly code: OperatorErrorCode
  // Private, because programs that print the fields of an error, such as Vite, would print the problems twice.
  readonly #problems: readonly string[]

  constructor(
    code: OperatorErrorCode,
    problems: string | readonly string[],
    { heading, ...options }: OperatorErrorOptions = {},
  ) {
    // The message can contain file names and external values, and it is printed unescaped.
    const list = (typeof problems === 'string' ? [problems] : problems).map(escapeMessage)
    const lines = heading === undefined ? list : [heading, ...list.map((problem) => `  ${problem}`)]
    super(lines.join('\n'), options)
    this.code = code
    this.#problems = list
  }

  /** The problems, such as `$.files[3].size: expected a whole number of bytes, found "12"`. */
  get problems(): readonly string[] {
    return this.#problems
  }
}
