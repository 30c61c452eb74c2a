import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { documentUrl } from '@serve-dist/foundation/text/document-url'

/** The description of a failed request. */
export interface S3Failure {
  /** The status of the response, if there was one. */
  readonly status: number | undefined
  /** The error code of S3, for example `AccessDenied`. */
  readonly code: string
  /** Whether the same request may succeed a little later. */
  readonly isPassing: boolean
  /** Whether the server rejected the request. Otherwise, the request may still run at any later time. */
  readonly isAnswered: boolean
  /** The reason for messages, and the fix if it is known. */
  readonly reason: string
}

/** Error codes of 4xx responses that do not depend on the request. */
const passing = new Set([
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'SlowDown',
  'OperationAborted',
  'ConditionalRequestConflict',
  // The digest of the source was verified, so the bytes were corrupted in transit.
  'XAmzContentSHA256Mismatch',
])

const ofNetwork =
  /^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|EPROTO|ERR_STREAM_PREMATURE_CLOSE|HPE_)/

const credentials =
  'check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile or role that they come from'
const cures: Readonly<Record<string, string>> = {
  AccessDenied: `grant the permissions that publishing and serving need: ${documentUrl('deploys')}`,
  AuthorizationHeaderMalformed: 'check AWS_REGION',
  CredentialsProviderError: credentials,
  ExpiredToken: credentials,
  InvalidAccessKeyId: credentials,
  InvalidToken: credentials,
  NoSuchBucket: 'create the bucket, or check its name and the endpoint',
  PermanentRedirect: 'check AWS_REGION and the endpoint',
  SignatureDoesNotMatch: credentials,
}

/** Describes the error of a request. */
export function s3FailureOf(error: unknown): S3Failure {
  const status = numberAt(fieldOf(error, '$metadata'), 'httpStatusCode')
  const own = error instanceof Error ? error : new Error(String(error))
  // Node.js tried IPv4 and IPv6 addresses.
  const [first] = own instanceof AggregateError ? own.errors : []
  const network = fieldOf(first ?? own, 'code') ?? fieldOf(own, 'code')
  const isOfNetwork = own.name === 'TimeoutError' || (typeof network === 'string' && ofNetwork.test(network))
  const isPassing =
    status === undefined
      ? isOfNetwork
      : passing.has(own.name) || status === 429 || status === 408 || (status >= 500 && status !== 501)
  // The other lines are advice of the SDK for programmers.
  const [line = ''] = reasonOf(first ?? own).split('\n', 1)
  const said = line === '' ? own.name : line
  const named = status === undefined || said.startsWith(own.name) ? said : `${own.name}: ${said}`
  const reason = [
    named.replace(/\.$/, ''),
    status === undefined ? '' : `HTTP ${status}`,
    cures[own.name] ??
      (status !== undefined && status >= 300 && status < 400 ? cures['PermanentRedirect'] : ''),
  ]
  const isAnswered = status !== undefined && (status < 500 || own.name === 'SlowDown')
  return { status, code: own.name, isPassing, isAnswered, reason: reason.filter(Boolean).join('; ') }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

function numberAt(value: unknown, name: string): number | undefined {
  const found = fieldOf(value, name)
  return typeof found === 'number' ? found : undefined
}
