import { describe, expect, test } from 'vitest'
import { connectionLimits } from './connection-limits.ts'

describe('connectionLimits', () => {
  test('matches docs/http.md', () => {
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

  test('ends slow heads before slow requests and checks often enough', () => {
    const { headersTimeout, requestTimeout, connectionsCheckingInterval } = connectionLimits
    expect(headersTimeout).toBeLessThan(requestTimeout)
    expect(connectionsCheckingInterval).toBeLessThan(headersTimeout)
  })

  test('keeps connections longer than the usual 60 seconds of load balancers', () => {
    expect(connectionLimits.keepAliveTimeout).toBeGreaterThan(60_000)
  })

  test('keeps the strict parser', () => {
    expect(connectionLimits).not.toHaveProperty('insecureHTTPParser')
  })
})
