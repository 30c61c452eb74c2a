import { buildFixture, type FixtureFiles } from '../../../server/test/support/build-fixture.ts'
import { manifestOf } from './read-store.ts'

/** A build in a folder. */
export interface MadeBuild {
  readonly directory: string
  readonly id: string
}

const script = 'export const answer = () => "forty-two";\n'.repeat(40)

/** The files of a small application: a page and a script that change, a script and a picture that do not. */
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

/** Makes a real build: written, compressed and described. */
export async function makeBuild(files: FixtureFiles): Promise<MadeBuild> {
  const directory = await buildFixture(files, { codings: ['br', 'gzip'] })
  return { directory, id: (await manifestOf(directory)).buildId }
}

/** Makes the build of a version. */
export async function makeVersion(version: number, more: FixtureFiles = {}): Promise<MadeBuild> {
  return await makeBuild(filesOfVersion(version, more))
}
