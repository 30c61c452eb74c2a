import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, vi } from 'vitest'
import { type RawRequest, rawRequest } from '../raw-request.ts'
import { isNative } from '../tested-engine.ts'

/**
 * Repeats a request until the native engine answers it without Node. The engine relays the first one, because
 * it learns from Node's answer. Does nothing if Node's engine is tested.
 */
export async function waitForEngine(port: number, request: RawRequest): Promise<void> {
  if (!isNative) return
  let requests = 0
  const count = (): void => {
    requests += 1
  }
  subscribe('http.server.request.start', count)
  const answerWithoutNode = async (): Promise<void> => {
    const before = requests
    await rawRequest(port, request)
    expect(requests).toBe(before)
  }
  try {
    await vi.waitFor(answerWithoutNode)
  } finally {
    unsubscribe('http.server.request.start', count)
  }
}
