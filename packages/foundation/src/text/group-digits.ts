/** Formats a natural number: `999`, `2,001`. The first `toLocaleString` of a process takes 19 ms. */
export function groupDigits(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}
