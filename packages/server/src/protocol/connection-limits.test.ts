import { describe, expect, test } from 'vitest'
import { connectionLimits } from './connection-limits.ts'

describe('connectionLimits', () => {
  test('is what docs/http.md says', () => {
    expect(connectionLimits).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      uploadTimeout: 300_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16_384,
      socketTimeout: 60_000,
      maximumConnections: 10_000,
      maximumStreams: 10_000,
    })
  })

  test('ends slow heads before slow requests, and looks often enough to notice', () => {
    const { headersTimeout, requestTimeout, connectionsCheckingInterval } = connectionLimits
    expect(headersTimeout).toBeLessThan(requestTimeout)
    expect(connectionsCheckingInterval).toBeLessThan(headersTimeout)
  })

  test('keeps connections longer than the 60 seconds of the usual load balancers', () => {
    expect(connectionLimits.keepAliveTimeout).toBeGreaterThan(60_000)
  })

  test('leaves the strict parser as it is', () => {
    expect(connectionLimits).not.toHaveProperty('insecureHTTPParser')
  })
})
