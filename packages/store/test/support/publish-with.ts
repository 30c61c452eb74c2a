import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PublishOptions, PublishSummary } from '../../src/index.ts'

/** The failure of a publish. */
export interface PublishFailure {
  readonly code: string
  readonly message: string
}

const program = fileURLToPath(new URL('publish-once.mjs', import.meta.url))

/** Publishes in a process of another Node.js version. */
export async function tryPublishWith(
  node: string,
  {
    directory,
    where,
    environment = process.env,
  }: { readonly directory: string; readonly where: string; readonly environment?: NodeJS.ProcessEnv },
  options: PublishOptions = {},
): Promise<PublishSummary | PublishFailure> {
  const words = [program, directory, where, JSON.stringify(options)]
  const { stdout } = await promisify(execFile)(node, words, { env: environment })
  return JSON.parse(stdout)
}

/** Publishes in a process of another Node.js version and throws if the publish fails. */
export async function publishWith(...given: Parameters<typeof tryPublishWith>): Promise<PublishSummary> {
  const outcome = await tryPublishWith(...given)
  if ('code' in outcome) throw new Error(outcome.message)
  return outcome
}
