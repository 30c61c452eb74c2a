/** Formats bytes in kB of 1,000 bytes, as Vite does, or in MB: `12.30 kB`, `3.44 MB`. */
export function formatSize(bytes: number): string {
  // 999,995 bytes would be rounded to `1,000.00 kB`.
  return bytes < 999_995 ? `${group(bytes / 1000, 2)} kB` : `${group(bytes / 1_000_000, 2)} MB`
}

/** Formats bytes exactly below 1,000: `400 B`, `1.20 kB`. */
export function formatBytes(bytes: number): string {
  return bytes < 1000 ? `${bytes} B` : formatSize(bytes)
}

/** Formats a change in bytes with its sign: `+400 B`, `-1.20 kB`, `0 B`. */
export function formatByteChange(bytes: number): string {
  return signOf(bytes) + formatBytes(Math.abs(bytes))
}

/** Formats a change in percent with its sign: `+1.2 %`. Small values have more digits. */
export function formatPercent(percent: number): string {
  const size = Math.abs(percent)
  const digits = size >= 100 ? 0 : size >= 0.1 || size === 0 ? 1 : 2
  if (size > 0 && size < 0.01) return '<0.01 %'
  return `${signOf(percent)}${group(size, digits)} %`
}

/** Formats a change in bytes and percent: `+1.20 kB (+1.2 %)`, or `no change`. */
export function formatChange(change: {
  readonly bytes: number
  readonly percent: number | undefined
}): string {
  const { bytes, percent } = change
  if (bytes === 0) return 'no change'
  return formatByteChange(bytes) + (percent === undefined ? '' : ` (${formatPercent(percent)})`)
}

function signOf(number: number): string {
  if (number === 0) return ''
  return number > 0 ? '+' : '-'
}

function group(number: number, digits: number): string {
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
