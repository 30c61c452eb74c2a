import { relative, resolve, sep } from 'node:path'
import { type BuildFacts, type BuildRecord, escapeGlob, writeRecord } from '@serve-dist/precompress'
import type { Environment, ResolvedConfig } from 'vite'
import type { ServeDistSettings } from '../serve-dist-options.ts'
import type { RecordedFolder } from './build-state.ts'
import { isInside, outermostFolders } from './output-folders.ts'
import { policyNeeds } from './policy-needs.ts'
import { describeFolder, type WrittenOutput } from './written-output.ts'

/** The records of this process, for passes over folders that several builds wrote into. */
const recordedFolders = new Map<string, RecordedFolder>()

export function recordsOfProject(root: string): BuildRecord[] {
  return foldersOf(root).map(({ record }) => record)
}

/** Whether a pattern of the user breaks what a framework promises; a build that was promised nothing breaks nothing. */
export function breaksHashPromise(root: string): boolean {
  return foldersOf(root).some(({ breaksPromise }) => breaksPromise)
}

function foldersOf(root: string): RecordedFolder[] {
  return [...recordedFolders.values()].filter((entry) => entry.root === root)
}

/** What the record of a build takes from elsewhere. */
export interface Recording {
  readonly settings: ServeDistSettings
  readonly facts: Pick<BuildFacts, 'base' | 'appType' | 'assetsDirectory' | 'promises' | 'begun'>
}

/** Writes the record of each folder that these outputs of an environment went into. */
export async function recordBuild(
  environment: Environment,
  outputs: readonly WrittenOutput[],
  { settings, facts }: Recording,
): Promise<RecordedFolder[]> {
  const config = environment.getTopLevelConfig()
  const { root } = config
  const { include, exclude = [], codings, minimumSize, serving } = settings.precompress
  // A user's own patterns may break what the framework promises: then only what the bundler hashed counts.
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

/** Whether a chunk without a hash lies where all names should have one. */
function hasUnhashedNames({ graph, stems }: WrittenOutput, promises: readonly string[]): boolean {
  const roots = promises.flatMap((glob) => (glob.endsWith('/**') ? glob.slice(0, -2) : []))
  return [...graph.keys()].some((name) => !stems.has(name) && roots.some((root) => name.startsWith(root)))
}

/** The folders inside this one that other environments write for servers, which nobody may be sent. */
function privateFolders({ root, environments }: ResolvedConfig, folder: string): string[] {
  return Object.values(environments)
    .filter(({ consumer }) => consumer === 'server')
    .map(({ build }) => resolve(root, build.outDir))
    .filter((path) => isInside(path, folder))
    .map((path) => `${escapeGlob(relative(folder, path).split(sep).join('/'))}/**`)
}
