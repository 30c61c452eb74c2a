import { stat } from 'node:fs/promises'
import { type Manifest } from '@serve-dist/manifest'
import { readBuildManifest, readManifestFile } from '@serve-dist/manifest/read-build-manifest'

/**
 * The manifest of a build, given the build's folder or a copy of its manifest.
 *
 * @throws {@link OperatorError} when there is none, when it cannot be read, or when the folder's last build did not
 * finish: then the manifest may be without variants that the build will have.
 */
export async function readBuild(location: string): Promise<Manifest> {
  const isFile = await stat(location).then(
    (found) => !found.isDirectory(),
    () => false,
  )
  return isFile ? await readManifestFile(location) : await readBuildManifest(location)
}
