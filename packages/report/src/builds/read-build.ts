import { stat } from 'node:fs/promises'
import { type Manifest } from '@serve-dist/manifest'
import { readBuildManifest, readManifestFile } from '@serve-dist/manifest/read-build-manifest'

/**
 * Reads the manifest of a build from the build's folder or from a copy of the manifest.
 *
 * @throws {@link OperatorError} if there is no readable manifest, or if the folder's last build did not finish. The
 * manifest of an unfinished build can lack variants.
 */
export async function readBuild(location: string): Promise<Manifest> {
  const isFile = await stat(location).then(
    (found) => !found.isDirectory(),
    () => false,
  )
  return isFile ? await readManifestFile(location) : await readBuildManifest(location)
}
