import {
  answerAtRate,
  answerHead,
  answerNewConnection,
  answerNotModified,
  answerSizes,
  answerWhileBlocked,
} from './answer-sizes.ts'
import { arenaStatic } from './arena.ts'
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
  ...answerSizes,
  answerNotModified,
  answerHead,
  answerNewConnection,
  answerAtRate,
  answerWhileBlocked,
  arenaStatic,
]
