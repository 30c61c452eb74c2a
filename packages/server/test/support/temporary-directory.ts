import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []

afterAll(async () => {
  const options = { recursive: true, force: true, maxRetries: 5 }
  await Promise.all(made.splice(0).map((directory) => rm(directory, options)))
})

/** Creates an empty folder, which is removed after the test file. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'serve-dist-')))
  made.push(directory)
  return directory
}
