import type { Environment } from 'vite'
import { findOutdatedCompressions } from './compression/check-at-exit.ts'
import { foldersToChange, markFolders, warnAboutMarkedFolders } from './compression/mark-folders.ts'
import type { CompressionRequest } from './compression/compression-request.ts'
import { withoutStack, runCompressions } from './compression/run-compressions.ts'
import { buildStateOf } from './record/build-state.ts'
import { outermostFolders } from './record/output-folders.ts'
import { recordBuild, type Recording, recordsOfProject } from './record/record-build.ts'
import type { WrittenOutput } from './record/written-output.ts'
import type { ServeDistSettings } from './serve-dist-options.ts'

// The phases of a build:
//
//   idle ──begin──▶ building ──endOutput──▶ written ──finish──▶ finished ──begin (a rebuild)──▶ building
//                      └────────────fail────────┴────────▶ failed ──begin──▶ building

/** The part of a hook's context that identifies a build. */
interface BuildContext {
  readonly environment: Environment
  readonly meta: { readonly watchMode: boolean }
}

/** Starts the phase `building`. From here on, folders change. `output` is the output that starts, if there is one. */
export async function beginBuild(
  environment: Environment,
  output?: Recording & { readonly name: string; readonly folder: string },
): Promise<void> {
  const state = buildStateOf(environment)
  state.phase = 'building'
  if (output !== undefined) state.outputs.set(output.name, undefined)
  const folders = foldersToChange(environment, output?.folder)
  if (environment.config.consumer !== 'server') await markFolders(state, folders, output !== undefined)
  if (output === undefined) return
  // Record the exclusions early, in case the build fails and another program compresses its files.
  const nothing = folders.map((folder) => ({
    folder,
    stems: new Map(),
    graph: new Map(),
    workers: [],
    policyFacts: { inlineWorkers: [], announcers: [] },
  }))
  await recordBuild(environment, nothing, { ...output, facts: { ...output.facts, begun: true } })
}

/** Starts the phase `written` when the last output is complete. */
export function endOutput(environment: Environment, name: string, output: WrittenOutput): void {
  const state = buildStateOf(environment)
  state.outputs.set(name, output)
  if ([...state.outputs.values()].every((written) => written !== undefined)) state.phase = 'written'
}

/** Starts the phase `failed` if a build stopped after it had started to write. */
export async function markBuildFailed({ environment, meta }: BuildContext, error?: unknown): Promise<void> {
  const state = buildStateOf(environment)
  // In watch mode, a failure before writing changed nothing, and a build that closes during the next one is outdated.
  if (meta.watchMode && (error === undefined || state.phase !== 'building')) return
  state.phase = 'failed'
  await warnAboutMarkedFolders(environment, state)
}

/**
 * Records the output of an environment and compresses it if it is the last. Starts the phase `finished` or `failed`.
 */
export async function closeEnvironment(
  { environment, meta }: BuildContext,
  build: Recording & { readonly runsCompression: boolean },
): Promise<void> {
  const state = buildStateOf(environment)
  try {
    const written = [...state.outputs.values()].filter((output) => output !== undefined)
    state.folders = await recordBuild(environment, written, build)
    if (!build.runsCompression) state.phase = 'finished'
    else if (meta.watchMode) {
      await state.inTurn(async () => {
        // The next rebuild already writes, and will get its own manifest.
        if (state.phase === 'building') return
        state.phase = 'finished'
        await runCompressions(compressionsOf(environment, build.settings, true))
      })
    } else if (!state.isPartOfApp) await finishEnvironments([environment], build.settings)
  } catch (error) {
    // In watch mode, Vite does not wait for closeBundle, so an exception here would end the process.
    if (!meta.watchMode) throw withoutStack(error)
    // Vite 6 empties the folder when the next build starts. That build describes the folder.
    if (state.phase !== 'building') environment.logger.error(String(error))
  }
}

/** Compresses each client folder of these environments once. Starts the phase `finished` or `failed`. */
export async function finishEnvironments(
  environments: readonly Environment[],
  settings: ServeDistSettings,
): Promise<void> {
  const written = environments.filter((environment) => buildStateOf(environment).phase === 'written')
  const requests = new Map<string, CompressionRequest>()
  for (const environment of written) {
    const { isPartOfApp } = buildStateOf(environment)
    // A later server build may have prerendered pages into the folder of an earlier one.
    const isLater = environment.config.consumer === 'server' && !isPartOfApp
    const outdated = isLater ? findOutdatedCompressions(environment.getTopLevelConfig().root) : []
    const own = compressionsOf(environment, settings)
    for (const request of [...outdated, ...own]) requests.set(request.folder, request)
  }
  const outermost = outermostFolders(requests.keys())
  for (const environment of written) buildStateOf(environment).phase = 'failed'
  await runCompressions([...requests.values()].filter(({ folder }) => outermost.includes(folder)))
  for (const environment of written) buildStateOf(environment).phase = 'finished'
}

/** Returns the compressions of the client folders of an environment. */
function compressionsOf(
  environment: Environment,
  settings: ServeDistSettings,
  isWatched = false,
): CompressionRequest[] {
  if (environment.config.consumer === 'server') return []
  const { logLevel = 'info', clearScreen = true } = environment.getTopLevelConfig()
  return buildStateOf(environment).folders.map(({ folder, root, record }) => ({
    folder,
    root,
    settings,
    isWatched,
    selection: record.selection,
    // The first record decides how the folder is served.
    records: [record, ...recordsOfProject(root).filter((other) => other !== record)],
    log: environment.logger,
    // Draw no progress if Vite must not clear the screen.
    drawsProgress: logLevel === 'info' && clearScreen,
  }))
}
