import type { FieldValues } from '@serve-dist/manifest'

/**
 * What lets pages of every origin use a file: read it (Fetch §3.2.5), time it (Resource Timing §4.5), and
 * embed it into pages that isolate themselves (Fetch §3.7).
 */
export const crossOriginFields: FieldValues = {
  'Access-Control-Allow-Origin': '*',
  'Timing-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
