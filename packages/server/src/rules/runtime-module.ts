import type { Manifest } from '@serve-dist/manifest'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'
import { isChanged } from '../judge/compare-folder.ts'
import type { EnvironmentModule, EnvironmentSources, MadeEnvironment } from './make-environment-module.ts'

/** A build that takes nothing from its environment needs none of that code. */
export async function makeEnvironment(
  manifest: Manifest,
  options: EnvironmentSources,
): Promise<MadeEnvironment> {
  if (manifest.environment === undefined && options.envFile === undefined) {
    return { values: {}, module: undefined, problems: [] }
  }
  const { makeEnvironmentModule } = await import('./make-environment-module.ts')
  return await makeEnvironmentModule(manifest, options)
}

/** The manifest with the module that is served in the place of the file that lies on the disk, if one does. */
export function withModuleFile(manifest: Manifest, { file }: EnvironmentModule): Manifest {
  const { files } = manifest
  const isListed = files.some(({ path }) => path === file.path)
  const replaced = files.map((each) => (each.path === file.path ? file : each))
  return { ...manifest, files: isListed ? replaced : [...files, file] }
}

/** The bytes of the build's files with those of the module. */
export function withModuleBody(
  files: ReadonlyMap<ManifestEntry, StoredBytes>,
  { file, body }: EnvironmentModule,
): ReadonlyMap<ManifestEntry, StoredBytes> {
  return new Map([...files, [file, { size: body.length, body }]])
}

/** A line where somebody wrote values into the file, as static hosts have it: they would wait for them for ever. */
export function describeEditedModule(
  root: string,
  { files }: Manifest,
  { file }: EnvironmentModule,
): string | undefined {
  const written = files.find(({ path }) => path === file.path)
  return written !== undefined && isChanged(root, written)
    ? `${file.path}: was changed after the build, and does not count: this server makes it from its environment`
    : undefined
}
