import { resolve } from 'node:path'
import { breaksHashPromise, recordsOfProject } from '../record/record-build.ts'
import { resolveServeDistOptions, type ServeDistOptions } from '../serve-dist-options.ts'
import type { PassRequest } from './pass-request.ts'
import { runPasses } from './run-pass.ts'

/** What an integration says of a build that its framework has finished; `folder` is the one that is deployed. */
export interface FinishBuildOptions extends Omit<PassRequest, 'settings' | 'records'> {
  /** What the user gave to the integration. */
  readonly options: ServeDistOptions
}

/**
 * The pass over the final folder of a framework's build, with all that Vite's builds in this process and before it
 * wrote down. What is not given (`base` …) is taken from those records.
 *
 * @throws an error that names what went wrong: the folder cannot be compressed, or is over a budget.
 */
export async function finishBuild(build: FinishBuildOptions): Promise<void> {
  const { folder, root, options, ...facts } = build
  const settings = resolveServeDistOptions(options)
  if (!settings.pass) return
  const records = recordsOfProject(root)
  const promises = breaksHashPromise(root) ? [] : (build.promises ?? [])
  await runPasses([{ ...facts, promises, folder: resolve(root, folder), root, settings, records }])
}
