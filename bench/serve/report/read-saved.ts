import { readFile } from 'node:fs/promises'

/** A file that an option names cannot be used. */
export class UnreadableReport extends Error {
  override readonly name = 'UnreadableReport'
}

/**
 * Reads what `--save` wrote.
 *
 * @throws UnreadableReport that names option and file.
 */
export async function readSaved<Saved>(option: string, file: string): Promise<Saved> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UnreadableReport(`--${option} ${file}: ${reason}`, { cause: error })
  }
}

/** What to do about it: one line, and exit code 2. */
export function endUnreadable(error: unknown): never {
  if (!(error instanceof UnreadableReport)) throw error
  process.stderr.write(`${error.message}\n`)
  return process.exit(2)
}
