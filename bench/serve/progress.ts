let lastStep = ''

/** Writes the step under way to standard error: in one line of a terminal, elsewhere a line for each step. */
export function showProgress(step: string, detail = ''): void {
  const text = detail === '' ? step : `${step}, ${detail}`
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}\r`)
  else if (step !== lastStep) process.stderr.write(`${step}\n`)
  lastStep = step
}
