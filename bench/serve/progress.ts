let lastStep = ''

/** Writes the current step to standard error. In a terminal, it replaces the previous line. */
export function showProgress(step: string, detail = ''): void {
  const text = detail === '' ? step : `${step}, ${detail}`
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}\r`)
  else if (step !== lastStep) process.stderr.write(`${step}\n`)
  lastStep = step
}

/** Writes a line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
