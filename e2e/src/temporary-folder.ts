import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates an empty folder, which is removed after the running test. */
export async function temporaryFolder(): Promise<string> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'serve-dist-e2e-')))
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
