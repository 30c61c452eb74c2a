import { resolve } from 'node:path'
import { breaksHashPromise, recordsOfProject } from '../record/record-build.ts'
import { resolveServeDistOptions, type ServeDistOptions } from '../serve-dist-options.ts'
import type { CompressionRequest } from './compression-request.ts'
import { runCompressions } from './run-compressions.ts'

/** A finished build of a framework. `folder` is the folder that is deployed. */
export interface FinishBuildOptions extends Omit<CompressionRequest, 'settings' | 'records'> {
  /** The user's options of the integration. */
  readonly options: ServeDistOptions
}

/**
 * Compresses the final folder of a framework's build, with the records of this and earlier processes. Missing facts
 * (such as `base`) come from these records.
 *
 * @throws an error if the compression fails or a budget is exceeded.
 */
export async function finishBuild(build: FinishBuildOptions): Promise<void> {
  const { folder, root, options, ...facts } = build
  const settings = resolveServeDistOptions(options)
  if (!settings.pass) return
  const records = recordsOfProject(root)
  const promises = breaksHashPromise(root) ? [] : (build.promises ?? [])
  await runCompressions([{ ...facts, promises, folder: resolve(root, folder), root, settings, records }])
}
