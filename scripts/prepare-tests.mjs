import { configureGlobal } from 'fast-check'
import { afterAll, vi } from 'vitest'
import { killRunning } from '../packages/server/test/support/kill-at-end.ts'

afterAll(killRunning)

configureGlobal({ seed: Number(process.env['SERVE_DIST_SEED']) })

// Vitest's default of one second is short for busy machines.
const { waitFor, waitUntil } = vi
vi.waitFor = (callback, options = 15_000) => waitFor(callback, options)
vi.waitUntil = (callback, options = 15_000) => waitUntil(callback, options)
