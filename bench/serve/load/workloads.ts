import { heads, bundles, newConnections, notModifiedByDate, notModifiedByTag } from './bundles.ts'
import { pageLoad } from './page-load.ts'
import { sizes, variant } from './sizes.ts'
import type { Workload } from './workload.ts'
import { zipf } from './zipf.ts'

/** Every workload that is known, in the order of the tables. */
export const workloads: readonly Workload[] = [
  bundles,
  variant,
  notModifiedByTag,
  notModifiedByDate,
  heads,
  newConnections,
  pageLoad,
  ...sizes,
  zipf,
]
