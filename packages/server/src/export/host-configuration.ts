/** A configuration for one host. */
export interface HostConfiguration {
  readonly text: string
  /** What the host cannot be told, one line each. */
  readonly left: readonly string[]
}
