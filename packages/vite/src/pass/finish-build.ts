import { resolve } from 'node:path'
import type { BuildFacts } from '@serve-dist/precompress'
import { recordsOf } from '../record/record-build.ts'
import { resolveServeDistOptions, type ServeDistOptions } from '../serve-dist-options.ts'
import type { PassLog } from './pass-request.ts'
import { runPasses } from './run-pass.ts'

/** What an integration says of a build that its framework has finished. */
export interface FinishBuildOptions extends Partial<
  Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'promises'>
> {
  /** The folder that is deployed. */
  readonly folder: string
  /** The root of the project, as Vite has it. */
  readonly root: string
  /** What the user gave to the integration. */
  readonly options: ServeDistOptions
  /** The name of the integration, such as `astro`. */
  readonly framework: string
  readonly log: PassLog
}

/**
 * The pass over the final folder of a framework's build, with all that Vite's builds in this process and before it
 * wrote down. What is not given (`base` …) is taken from those records.
 *
 * @throws an error that names what went wrong: the folder cannot be compressed, or is over a budget.
 */
export async function finishBuild(build: FinishBuildOptions): Promise<void> {
  const { folder, root, options, framework: _framework, ...facts } = build
  const settings = resolveServeDistOptions(options)
  if (!settings.pass) return
  await runPasses([{ ...facts, folder: resolve(root, folder), root, settings, records: recordsOf(root) }])
}
