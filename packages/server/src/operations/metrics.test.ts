import { describe, expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'
import type { EngineCounts } from './observe-engine.ts'

const counts: EngineCounts = {
  aborted: 1,
  bytes: 2,
  savedBytes: 3,
  panics: 4,
  dropped: 9,
  seconds: 5,
  byDuration: Float64Array.of(6),
  underWay: 7,
  byClass: [[{ status: 200, coding: 'br', cache: 'immutable' }, 8]],
}

describe('createMetrics', () => {
  test("reads the engine's counters once per scrape", async () => {
    let read = 0
    const metrics = await createMetrics(
      () => undefined,
      () => {
        read += 1
        return { ...counts, panics: read }
      },
    )
    expect(await metrics.read()).toMatch(/^serve_dist_engine_panics_total 1$/m)
    expect(await metrics.read()).toMatch(
      /^serve_dist_connections_dropped_total 9$[^]*^serve_dist_engine_panics_total 2$/m,
    )
    await metrics.readContent()
    expect(read).toBe(3)
  })
})
