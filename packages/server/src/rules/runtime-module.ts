import type { Manifest } from '@serve-dist/manifest'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import { isChanged } from '../judge/compare-folder.ts'
import { variableReader } from './variable-reader.ts'
import type { EnvironmentModule, EnvironmentSources, MadeEnvironment } from './make-environment-module.ts'

/** Makes the environment of a build. Builds without variables do not load the code for it. */
export async function makeEnvironment(
  manifest: Manifest,
  options: EnvironmentSources,
): Promise<MadeEnvironment> {
  const { environment = process.env, envFile } = options
  if (manifest.environment === undefined && envFile === undefined) {
    return { values: {}, readVariable: variableReader(environment), module: undefined, problems: [] }
  }
  const { makeEnvironmentModule } = await import('./make-environment-module.ts')
  return await makeEnvironmentModule(manifest, options)
}

/** Replaces the file of the module in the manifest by the generated one, or adds it. */
export function withModuleFile(manifest: Manifest, { file }: EnvironmentModule): Manifest {
  const { files } = manifest
  const isListed = files.some(({ path }) => path === file.path)
  const replaced = files.map((each) => (each.path === file.path ? file : each))
  return { ...manifest, files: isListed ? replaced : [...files, file] }
}

/** Adds the bytes of the module to the bytes of the build's files. */
export function withModuleBody(
  files: ReadonlyMap<ManifestEntry, StoredBytes>,
  { file, body }: EnvironmentModule,
): ReadonlyMap<ManifestEntry, StoredBytes> {
  return new Map([...files, [file, { size: body.length, body }]])
}

/** Returns a warning if a program wrote values into the file of the module. These values would have no effect. */
export function describeEditedModule(
  root: string,
  { files }: Manifest,
  { file }: EnvironmentModule,
): string | undefined {
  const written = files.find(({ path }) => path === file.path)
  return written !== undefined && isChanged(root, written)
    ? `${file.path}: the file was changed after the build. The change has no effect, because the server generates this file from its environment.`
    : undefined
}
