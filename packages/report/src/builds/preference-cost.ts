import { type Preference, contentCodings, type Manifest } from '@serve-dist/manifest'
import { formatBytes, formatPercent } from './format-values.ts'
import { type Coding, sizesOf, sumSizes } from './sizes.ts'

/** The cost of the default order of codings for a build, compared with the smallest variants. */
export interface PreferenceCost {
  /** The preference of the build, `'order'` by default. */
  readonly prefer: Preference
  /** The most preferred coding that this build has. */
  readonly first: Coding
  /** The number of bytes of all files as sent in that order. */
  readonly sent: number
  /** The number of bytes of all files, each in its smallest coding. */
  readonly smallest: number
  /** The cost in bytes: `sent - smallest`, never negative. */
  readonly bytes: number
  /** The cost in percent of `smallest`. */
  readonly percent: number
}

/** Compares `prefer: 'order'` with `prefer: 'smallest'` for all files. */
export function preferenceCost({ files, serving }: Pick<Manifest, 'files' | 'serving'>): PreferenceCost {
  const { sent, smallest } = sumSizes(files.map((file) => sizesOf(file)))
  const first = contentCodings.find(({ name }) =>
    files.some(({ variants }) => variants.some(({ coding }) => coding === name)),
  )
  const bytes = sent - smallest
  const percent = smallest === 0 ? 0 : (bytes / smallest) * 100
  return {
    prefer: serving?.prefer ?? 'order',
    first: first?.name ?? 'identity',
    sent,
    smallest,
    bytes,
    percent,
  }
}

/** Describes the cost of the order of codings in one line. Returns `undefined` if the build has no variants. */
export function describePreference({
  prefer,
  first,
  sent,
  bytes,
  percent,
}: PreferenceCost): string | undefined {
  if (first === 'identity') return undefined
  if (prefer === 'smallest') {
    const saved = formatPercent(sent === 0 ? 0 : (-bytes / sent) * 100)
    return `prefer: 'smallest' saves ${formatBytes(bytes)} (${saved}) compared with ${first} first.`
  }
  return bytes === 0
    ? `Sending ${first} first costs nothing: no other variant is smaller.`
    : `Sending ${first} first costs ${formatBytes(bytes)} (${formatPercent(percent)}). To send less, set prefer: 'smallest' in the plugin's option serving.`
}
