import { resolve } from 'node:path'
import type { Manifest } from '@serve-dist/manifest'
import { buildSite } from './build-site.ts'
import { chooseHeldBodies } from './choose-held-bodies.ts'
import { expectedFiles, inspectFiles } from './inspect-files.ts'
import { isSourceMap } from './is-source-map.ts'
import { type LoadSiteOptions, resolveLoadSiteOptions } from './load-site-options.ts'
import { readManifest } from './read-manifest.ts'
import { readServingFiles, servingFiles } from './read-serving-files.ts'
import { resolveServing } from './resolve-serving.ts'
import type { Site } from './site.ts'

/**
 * Reads a build's manifest (or describes the folder when it has none), checks it against the disk, reads
 * the bodies that fit into memory, and builds the table that requests are answered from.
 *
 * @throws SiteError with all problems at once: the manifest cannot be read, or a file is missing
 * or has another size than the manifest says, or another digest (streamed files: with `verify: 'hash'`).
 */
export async function loadSite(directory: string, options: LoadSiteOptions = {}): Promise<Site> {
  const { verify, memoryBudget, largestBody, rules, onWarning } = resolveLoadSiteOptions(options)
  const root = resolve(directory)
  const whole = await readManifest(root)
  const serving = resolveServing({
    directory: root,
    ...(await readServingFiles(root, whole, onWarning)),
    rules: [whole.serving ?? {}, rules],
  })
  const wanted = serving.sourceMaps === 'deny' ? withoutSourceMaps(whole) : whole
  const held = chooseHeldBodies(expectedFiles(wanted), { memoryBudget, largestBody })
  const files = await inspectFiles(root, wanted, { verify, held })
  const manifest = { ...wanted, files: wanted.files.filter(({ path }) => !servingFiles.has(path)) }
  const site = buildSite(manifest, files, serving)
  for (const { from, to, status, target } of site.redirects) {
    if ((status === 200 || status === 404) && target === undefined) {
      onWarning(`the redirect of ${from} never counts: the build has no file ${to} to answer ${status} with`)
    }
  }
  return site
}

/** What is denied is not even looked for: it may have been deleted after it was uploaded elsewhere. */
function withoutSourceMaps(manifest: Manifest): Manifest {
  return { ...manifest, files: manifest.files.filter(({ path }) => !isSourceMap(path)) }
}
