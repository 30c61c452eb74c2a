import { formatBytes, formatKilobytes, formatPercent } from '../builds/format-bytes.ts'
import type { PreferenceCost } from '../builds/preference-cost.ts'

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
