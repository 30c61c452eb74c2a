/** Facts about a forwarded request, for the access log and the metrics. */
export interface UpstreamNote {
  /** The `from` of the rule. */
  readonly rule?: string
  /** The status that the target sent; absent if it sent none. */
  readonly status?: number
  /** Milliseconds until the head of the target's answer. */
  readonly milliseconds?: number
  /** Why the target failed. */
  readonly error?: string | undefined
}
