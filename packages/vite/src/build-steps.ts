import type { Environment } from 'vite'
import { findOutdatedPasses } from './pass/check-at-exit.ts'
import { foldersToChange, markFolders, warnAboutMarkedFolders } from './pass/mark-folders.ts'
import type { PassRequest } from './pass/pass-request.ts'
import { withoutStack, runPasses } from './pass/run-pass.ts'
import { buildStateOf } from './record/build-state.ts'
import { outermostFolders } from './record/output-folders.ts'
import { recordBuild, type Recording, recordsOfProject } from './record/record-build.ts'
import type { WrittenOutput } from './record/written-output.ts'
import type { ServeDistSettings } from './serve-dist-options.ts'

// Every step from one phase of a build to the next:
//
//   idle ──begin──▶ building ──endOutput──▶ written ──finish──▶ finished ──begin (a rebuild)──▶ building
//                      └────────────fail────────┴────────▶ failed ──begin──▶ building

/** The part of a hook's context that tells builds apart. */
interface BuildContext {
  readonly environment: Environment
  readonly meta: { readonly watchMode: boolean }
}

/** → `building`: from here on the folders change. `output`: the one that begins, if one does, and its folder. */
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
  // Whoever compresses what a build that fails has left must know what it leaves out.
  const nothing = folders.map((folder) => ({
    folder,
    stems: new Map(),
    graph: new Map(),
    workers: [],
    policyFacts: { inlineWorkers: [], announcers: [] },
  }))
  await recordBuild(environment, nothing, { ...output, facts: { ...output.facts, begun: true } })
}

/** `building` → `written`, when it is the last output that began. */
export function endOutput(environment: Environment, name: string, output: WrittenOutput): void {
  const state = buildStateOf(environment)
  state.outputs.set(name, output)
  if ([...state.outputs.values()].every((written) => written !== undefined)) state.phase = 'written'
}

/** → `failed`, where a build was cut off that had begun to write. */
export async function markBuildFailed({ environment, meta }: BuildContext, error?: unknown): Promise<void> {
  const state = buildStateOf(environment)
  // Watched: what fails while it reads changed nothing, and what is closed while the next one writes is outdated.
  if (meta.watchMode && (error === undefined || state.phase !== 'building')) return
  state.phase = 'failed'
  await warnAboutMarkedFolders(environment, state)
}

/** `written` → `finished`, or `failed`: what an environment wrote is recorded, and compressed where this is the end. */
export async function closeEnvironment(
  { environment, meta }: BuildContext,
  build: Recording & { readonly makesPass: boolean },
): Promise<void> {
  const state = buildStateOf(environment)
  try {
    const written = [...state.outputs.values()].filter((output) => output !== undefined)
    state.folders = await recordBuild(environment, written, build)
    if (!build.makesPass) state.phase = 'finished'
    else if (meta.watchMode) {
      await state.inTurn(async () => {
        // A rebuild that writes already gets a manifest of its own, without variants as well.
        if (state.phase === 'building') return
        state.phase = 'finished'
        await runPasses(passesOf(environment, build.settings, true))
      })
    } else if (!state.isPartOfApp) await finishEnvironments([environment], build.settings)
  } catch (error) {
    // Vite does not wait for closeBundle when it watches: an error thrown there ends the process.
    if (!meta.watchMode) throw withoutStack(error)
    // Vite 6 empties the folder when the next build begins; that build describes it.
    if (state.phase !== 'building') environment.logger.error(String(error))
  }
}

/** `written` → `finished` or `failed`: one pass over each folder that these environments wrote for clients. */
export async function finishEnvironments(
  environments: readonly Environment[],
  settings: ServeDistSettings,
): Promise<void> {
  const written = environments.filter((environment) => buildStateOf(environment).phase === 'written')
  const requests = new Map<string, PassRequest>()
  for (const environment of written) {
    const { isPartOfApp } = buildStateOf(environment)
    // A later build for a server may have prerendered pages into the folder of an earlier one.
    const isLater = environment.config.consumer === 'server' && !isPartOfApp
    const outdated = isLater ? findOutdatedPasses(environment.getTopLevelConfig().root) : []
    const own = passesOf(environment, settings)
    for (const request of [...outdated, ...own]) requests.set(request.folder, request)
  }
  const outermost = outermostFolders(requests.keys())
  for (const environment of written) buildStateOf(environment).phase = 'failed'
  await runPasses([...requests.values()].filter(({ folder }) => outermost.includes(folder)))
  for (const environment of written) buildStateOf(environment).phase = 'finished'
}

/** The passes over the folders that an environment wrote for clients. */
function passesOf(environment: Environment, settings: ServeDistSettings, isWatched = false): PassRequest[] {
  if (environment.config.consumer === 'server') return []
  const { logLevel = 'info', clearScreen = true } = environment.getTopLevelConfig()
  return buildStateOf(environment).folders.map(({ folder, root, record }) => ({
    folder,
    root,
    settings,
    isWatched,
    selection: record.selection,
    // The first one says how the folder is served.
    records: [record, ...recordsOfProject(root).filter((other) => other !== record)],
    log: environment.logger,
    // Not where Vite is told to leave the screen as it is.
    drawsProgress: logLevel === 'info' && clearScreen,
  }))
}
