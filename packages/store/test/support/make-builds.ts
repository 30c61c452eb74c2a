import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, manifestPath, stringifyManifest } from '@serve-dist/manifest'
import { buildFixture, type FixtureFiles } from '../../../server/test/support/build-fixture.ts'
import { manifestOf } from './read-store.ts'

/** A build in a folder. */
export interface MadeBuild {
  readonly directory: string
  readonly id: string
}

/** A script that compresses badly alone, and well with a similar script as the dictionary. */
export const script = Array.from({ length: 40 }, (_, line) => {
  return `export const answer${line} = '${createHash('sha256').update(`${line}`).digest('base64')}'\n`
}).join('')

/**
 * Returns the files of a small application: a page and a script that change, and a script and a picture that do not.
 */
function filesOfVersion(version: number, more: FixtureFiles = {}): FixtureFiles {
  return {
    'index.html': `<!doctype html>\n<title>version ${version}</title>\n<script src="/assets/app-${version}.js"></script>`,
    [`assets/app-${version}.js`]: `${script}// ${version}\n`,
    [`assets/app-${version}.js.map`]: JSON.stringify({
      version: 3,
      sources: [`${version}.ts`],
      mappings: '',
    }),
    'assets/vendor.js': `${script}// vendor\n`,
    'photo.png': 'no text',
    ...more,
  }
}

/** Writes, compresses and describes a build. */
export async function makeBuild(files: FixtureFiles): Promise<MadeBuild> {
  const directory = await buildFixture(files, { codings: ['br', 'gzip'] })
  const manifest = withStems(await manifestOf(directory))
  await writeFile(join(directory, manifestPath), stringifyManifest(manifest))
  return { directory, id: manifest.buildId }
}

/** Adds stems, as the plugin does for names such as `app-<hash>.js`. */
function withStems(manifest: Manifest): Manifest {
  const files = manifest.files.map((file) => {
    const stem = file.path.replace(/-\w+(?=\.\w+$)/, '-[hash]')
    return stem === file.path ? file : { ...file, stem, cache: 'immutable' as const }
  })
  const named = stringifyManifest({ ...manifest, buildId: '', files })
  return { ...manifest, buildId: createHash('sha256').update(named).digest('hex').slice(0, 32), files }
}

/** Makes the build of a version. */
export async function makeVersion(version: number, more: FixtureFiles = {}): Promise<MadeBuild> {
  return await makeBuild(filesOfVersion(version, more))
}

/** Makes the builds of versions 1, 2 and 3. */
export async function makeVersions(): Promise<readonly [MadeBuild, MadeBuild, MadeBuild]> {
  return await Promise.all([makeVersion(1), makeVersion(2), makeVersion(3)])
}
