const units = ['B', 'kB', 'MB', 'GB']

/** Bytes for people, in decimal units as Vite prints them: `980 B`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes / 1000
  let power = 1
  // 999 950 B would be rounded to `1000.0 kB`.
  while (value >= 999.95 && power < units.length - 1) {
    value /= 1000
    power += 1
  }
  return `${value.toFixed(1)} ${units[power]}`
}
