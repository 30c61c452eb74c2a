import { configureGlobal } from 'fast-check'
import { vi } from 'vitest'

// Properties are tried on the same texts again where a seed is given, on others each time where none is.
const seed = process.env['SERVE_DIST_SEED']
if (seed !== undefined) configureGlobal({ seed: Number(seed) })

// Vitest's own second is short for machines that do other work as well.
const { waitFor } = vi
vi.waitFor = (callback, options = 15_000) => waitFor(callback, options)
