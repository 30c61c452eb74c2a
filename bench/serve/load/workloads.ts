import type { Workload } from './workload.ts'
import { besideFiles, besideRendering } from './workloads/beside-rendering.ts'
import { bundles, heads, newConnections, notModifiedByDate, notModifiedByTag } from './workloads/bundles.ts'
import { pageLoad } from './workloads/page-load.ts'
import { sizes } from './workloads/sizes.ts'
import { variant } from './workloads/variant.ts'
import { zipf } from './workloads/zipf.ts'

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
  besideRendering,
  besideFiles,
]
