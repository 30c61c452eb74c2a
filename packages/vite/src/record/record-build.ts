import { relative, resolve, sep } from 'node:path'
import { type BuildFacts, type BuildRecord, escapeGlob, writeRecord } from '@serve-dist/precompress'
import type { Environment, ResolvedConfig } from 'vite'
import type { ServeDistSettings } from '../serve-dist-options.ts'
import type { RecordedFolder } from './build-state.ts'
import { isInside, outermostFolders } from './output-folders.ts'
import { policyNeeds } from './policy-needs.ts'
import { describeFolder, type WrittenOutput } from './written-output.ts'

/** Records of this process, for folders into which several builds write. */
const recordedFolders = new Map<string, RecordedFolder>()

export function recordsOfProject(root: string): BuildRecord[] {
  return foldersOf(root).map(({ record }) => record)
}

/** Returns whether a pattern of the user breaks the framework's promise about hashed names. */
export function breaksHashPromise(root: string): boolean {
  return foldersOf(root).some(({ breaksPromise }) => breaksPromise)
}

function foldersOf(root: string): RecordedFolder[] {
  return [...recordedFolders.values()].filter((entry) => entry.root === root)
}

/** Settings and facts for the record of a build. */
export interface Recording {
  readonly settings: ServeDistSettings
  readonly facts: Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'promises' | 'begun'>
}

/** Writes the record of each folder of these outputs. */
export async function recordBuild(
  environment: Environment,
  outputs: readonly WrittenOutput[],
  { settings, facts }: Recording,
): Promise<RecordedFolder[]> {
  const config = environment.getTopLevelConfig()
  const { root } = config
  const { include, exclude = [], codings, minimumSize, serving } = settings.precompress
  // If a user's pattern breaks the framework's promise, only names that the bundler hashed are immutable.
  const breaksPromise = outputs.some((output) => hasUnhashedNames(output, facts.promises))
  const folders: RecordedFolder[] = []
  for (const folder of outermostFolders(outputs.map((output) => output.folder))) {
    const left = [...exclude, ...privateFolders(config, folder)]
    const policy = policyNeeds(config, {
      inlineWorkers: outputs.flatMap(({ policyFacts }) => policyFacts.inlineWorkers),
      announcers: outputs.flatMap(({ policyFacts }) => policyFacts.announcers),
    })
    const all: BuildFacts = {
      preload: settings.preload,
      ...(codings && { codings }),
      ...(minimumSize !== undefined && { minimumSize }),
      ...(serving && { serving }),
      ...(policy.length > 0 && { policy }),
      ...facts,
      ...(breaksPromise && { promises: [] }),
      role: environment.config.consumer,
      selection: { ...(include && { include }), ...(left.length > 0 && { exclude: left }) },
      ...(await describeFolder(folder, outputs)),
    }
    const entry = { folder, root, record: writeRecord(folder, all, { root }), breaksPromise }
    recordedFolders.set(folder, entry)
    folders.push(entry)
  }
  return folders
}

/** Returns whether a chunk without a hash is in a folder of hashed names. */
function hasUnhashedNames({ graph, stems }: WrittenOutput, promises: readonly string[]): boolean {
  const roots = promises.flatMap((glob) => (glob.endsWith('/**') ? glob.slice(0, -2) : []))
  return [...graph.keys()].some((name) => !stems.has(name) && roots.some((root) => name.startsWith(root)))
}

/** Returns subfolders with server code of other environments, which must not be published. */
function privateFolders({ root, environments }: ResolvedConfig, folder: string): string[] {
  return Object.values(environments)
    .filter(({ consumer }) => consumer === 'server')
    .map(({ build }) => resolve(root, build.outDir))
    .filter((path) => isInside(path, folder))
    .map((path) => `${escapeGlob(relative(folder, path).split(sep).join('/'))}/**`)
}
