import type { WorkloadRequest } from './workload.ts'

/** A request that was checked: what is sent, and what every answer to it must be. */
export interface PlannedRequest {
  readonly text: string
  readonly status: number
  /** Of the whole answer. */
  readonly wireBytes: number
}

/** The bytes of a request. */
export function requestText(
  port: number,
  { method, target, accept }: WorkloadRequest,
  newConnection: boolean,
  condition?: string,
): string {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`]
  if (accept.length > 0) lines.push(`Accept-Encoding: ${accept.join(', ')}`)
  if (condition !== undefined) lines.push(condition)
  if (newConnection) lines.push('Connection: close')
  return `${lines.join('\r\n')}\r\n\r\n`
}
