/** Rules are written by people: `/über uns` and `/%C3%BCber%20uns` mean the same. */
export function decodeWrittenPath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that begins no escape stands for itself.
    return text
  }
}
