import { describe, expect, test } from 'vitest'
import { s3FailureOf } from './s3-failure.ts'

function answered(status: number, name: string, message = 'why'): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } })
}

describe('s3FailureOf', () => {
  test.each<[string, unknown, boolean]>([
    ['a reset connection', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), true],
    ['a time limit', Object.assign(new Error('slow'), { name: 'TimeoutError' }), true],
    [
      'IPv4 and IPv6 connections refused',
      new AggregateError([Object.assign(new Error('no'), { code: 'ECONNREFUSED' })]),
      true,
    ],
    ['500', answered(500, 'InternalError'), true],
    ['503', answered(503, 'SlowDown'), true],
    ['a conflict between two writers', answered(409, 'ConditionalRequestConflict'), true],
    ['501', answered(501, 'NotImplemented'), false],
    ['403', answered(403, 'AccessDenied'), false],
    ['404', answered(404, 'NoSuchKey'), false],
    ['412', answered(412, 'PreconditionFailed'), false],
    ['no credentials', Object.assign(new Error('none'), { name: 'CredentialsProviderError' }), false],
    ['a missing file', Object.assign(new Error('ENOENT'), { code: 'ENOENT' }), false],
    ['a thrown string', 'text', false],
  ])('tells whether a retry can help after %s', (_what, error, isPassing) => {
    expect(s3FailureOf(error).isPassing).toBe(isPassing)
  })

  test('returns the reason and the fix', () => {
    expect(s3FailureOf(answered(403, 'AccessDenied', 'Access Denied.')).reason).toBe(
      'AccessDenied: Access Denied; HTTP 403; grant the permissions that publishing and serving need: https://serve-dist.github.io/serve-dist/deploys',
    )
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })
    expect(s3FailureOf(new AggregateError([refused], '')).reason).toBe('connect ECONNREFUSED ::1:1')
  })
})
