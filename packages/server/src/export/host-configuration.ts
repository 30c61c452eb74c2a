export interface HostConfiguration {
  readonly text: string
  /** The features that the host does not support, one line each. */
  readonly left: readonly string[]
}
