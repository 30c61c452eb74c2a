import type { Retention } from '@serve-dist/store'
import type { RetentionFlags } from './store-flags.ts'

/** Returns the limits that flags set. */
export function retentionOf({ keep, keepFor, keepBytes }: RetentionFlags): Partial<Retention> {
  return {
    ...(keep !== undefined && { generations: keep }),
    ...(keepFor !== undefined && { age: keepFor }),
    ...(keepBytes !== undefined && { bytes: keepBytes }),
  }
}
