import { relative, resolve, sep } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import { type BuildFacts, type BuildRecord, writeRecord } from '@serve-dist/precompress'
import type { Environment, ResolvedConfig } from 'vite'
import type { ServeDistSettings } from '../serve-dist-options.ts'
import type { BuildState, RecordedFolder } from './build-state.ts'
import { isInside, outermostFolders } from './output-folders.ts'
import { describeFolder } from './written-output.ts'

/** The records of this process, for passes over folders that several builds wrote into. */
const recorded = new Map<string, RecordedFolder>()

export function recordsOf(root: string): BuildRecord[] {
  return [...recorded.values()].filter((entry) => entry.root === root).map(({ record }) => record)
}

/** What the record of a build takes from elsewhere. */
export interface Recording extends Pick<BuildFacts, 'appType'> {
  readonly settings: ServeDistSettings
  readonly naming: Pick<BuildFacts, 'assetsDirectory' | 'promises'>
}

/** Writes the record of each folder that an environment wrote. */
export async function recordBuild(
  environment: Environment,
  { outputs }: BuildState,
  { settings, appType, naming }: Recording,
): Promise<RecordedFolder[]> {
  const config = environment.getTopLevelConfig()
  const { root } = config
  const written = [...outputs.values()].filter((output) => output !== undefined)
  const folders: RecordedFolder[] = []
  for (const folder of outermostFolders(written.map((output) => output.folder))) {
    const facts: BuildFacts = {
      ...factsOf(settings),
      ...naming,
      role: environment.config.consumer,
      base: servedBase(config.base),
      appType,
      selection: selectionOf(settings, privateFolders(config, folder)),
      ...(await describeFolder(folder, written)),
    }
    const entry = { folder, root, record: writeRecord(folder, facts, { root }) }
    recorded.set(folder, entry)
    folders.push(entry)
  }
  return folders
}

function factsOf({ preload, precompress: { codings, minimumSize, serving } }: ServeDistSettings) {
  return {
    preload,
    ...(codings && { codings }),
    ...(minimumSize !== undefined && { minimumSize }),
    ...(serving && { serving }),
  }
}

function selectionOf(
  { precompress: { include, exclude = [] } }: ServeDistSettings,
  hidden: readonly string[],
): BuildFacts['selection'] {
  const left = [...exclude, ...hidden]
  return { ...(include && { include }), ...(left.length > 0 && { exclude: left }) }
}

/** The folders inside this one that other environments write for servers, which nobody may be sent. */
function privateFolders({ root, environments }: ResolvedConfig, folder: string): string[] {
  return Object.values(environments)
    .filter(({ consumer }) => consumer === 'server')
    .map(({ build }) => resolve(root, build.outDir))
    .filter((path) => isInside(path, folder))
    .map((path) => `${escapeGlob(relative(folder, path).split(sep).join('/'))}/**`)
}

function escapeGlob(path: string): string {
  return path.replaceAll(/[!$()*+?@[\]^{|}]/g, String.raw`\$&`)
}
