import { describe, expect, test } from 'vitest'
import { connectionLimits, maximumConnections, socketTimeout } from './connection-limits.ts'

describe('connectionLimits', () => {
  test('is what docs/http.md says', () => {
    expect({ ...connectionLimits, socketTimeout, maximumConnections }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16_384,
      socketTimeout: 60_000,
      maximumConnections: 10_000,
    })
  })

  test('ends slow heads before slow requests, and looks often enough to notice', () => {
    const { headersTimeout = 0, requestTimeout = 0, connectionsCheckingInterval = 0 } = connectionLimits
    expect(headersTimeout).toBeLessThan(requestTimeout)
    expect(connectionsCheckingInterval).toBeLessThan(headersTimeout)
  })

  test('keeps connections longer than the 60 seconds of the usual load balancers', () => {
    expect(connectionLimits.keepAliveTimeout).toBeGreaterThan(60_000)
  })

  test('leaves the strict parser as it is', () => {
    expect(connectionLimits.insecureHTTPParser).toBeUndefined()
  })
})
