// Properties are tried on the same texts again where a seed is given, on others each time where none is.
import { configureGlobal } from 'fast-check'

const seed = process.env['SERVE_DIST_SEED']
if (seed !== undefined) configureGlobal({ seed: Number(seed) })
