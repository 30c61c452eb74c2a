import { type Preference, contentCodings, type Manifest } from '@serve-dist/manifest'
import { formatBytes, formatKilobytes, formatPercent } from './format-values.ts'
import { type Coding, sizesOf, sumSizes } from './sizes.ts'

/** What the server's default order of codings costs on one build, against sending the smallest. */
export interface PreferenceCost {
  /** What the build says of it: by default `'order'`, which then is what it costs. */
  readonly prefer: Preference
  /** The most preferred coding that this build has. */
  readonly first: Coding
  /** Bytes of all files as they are sent in that order. */
  readonly sent: number
  /** Bytes of all files, each in its smallest coding. */
  readonly smallest: number
  /** What the order costs: `sent - smallest`, never negative. */
  readonly bytes: number
  /** The same, of `smallest`. */
  readonly percent: number
}

/** Weighs `prefer: 'order'` against `prefer: 'smallest'`, whichever the build says, every file counted once. */
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

/** One line that says what the order of codings costs on a build, or would; `undefined` where it has no variants. */
export function describePreference({
  prefer,
  first,
  sent,
  smallest,
  bytes,
  percent,
}: PreferenceCost): string | undefined {
  if (first === 'identity') return undefined
  if (prefer === 'smallest') {
    const saved = bytes === 0 ? 'as much as' : `${formatBytes(bytes)} less than`
    return `prefer 'smallest' sends ${formatKilobytes(smallest)}, ${saved} ${first} first would`
  }
  if (bytes === 0) {
    return `${first} first sends ${formatKilobytes(sent)}, which is the smallest of every file: prefer 'smallest' would save nothing`
  }
  const more = formatBytes(bytes)
  return `${first} first sends ${formatKilobytes(sent)}, ${more} more than prefer 'smallest' would (${formatKilobytes(smallest)}, ${formatPercent(percent)})`
}
