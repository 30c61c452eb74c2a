import type { CodingWeights } from '../protocol/accept-encoding.ts'
import type { Representation, Resource } from './site.ts'

/**
 * The representation that the client wants most, the server's order deciding among equals; `undefined`
 * when none is acceptable (406).
 */
export function selectRepresentation(resource: Resource, weights: CodingWeights): Representation | undefined {
  let selected: Representation | undefined
  let highest = 0
  for (const representation of resource.representations) {
    const weight = weights[representation.coding]
    if (weight > highest) {
      selected = representation
      highest = weight
    }
  }
  return selected
}
