import { cp, mkdir, readFile, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, relative } from 'node:path'
import createIgnore from '@balena/dockerignore'
import { dockerfileSteps } from './dockerfile-steps.mjs'
import { runAs } from './run-as.mjs'

/** @import { Step } from './dockerfile-steps.mjs' */
/** @import { Account } from './run-as.mjs' */

/**
 * A stage as it is now; the last one is the image.
 *
 * @typedef {object} Stage
 * @property {string} root The folder that stands for `/`.
 * @property {string} workingDirectory
 * @property {Record<string, string>} environment
 * @property {string} user
 * @property {[string, ...string[]] | undefined} command
 * @property {[string, ...string[]] | undefined} healthcheck
 */

/**
 * Where a Dockerfile is built, and as whom.
 *
 * @typedef {object} Surroundings
 * @property {string} context The folder of the Dockerfile, with its .dockerignore.
 * @property {string} directory A folder for the stages.
 * @property {string} tarballs What stands in `/tarballs` of every stage: packages that are in no registry yet.
 * @property {Record<string, string>} environment Of every RUN.
 * @property {Account | undefined} account Who runs every RUN, where that is not whom we run as.
 */

/**
 * Does what `docker build` would, step by step, with a folder for each stage in the place of its file system and
 * this machine's Node in the place of the base image's. Paths in a RUN must be relative.
 *
 * @param {Surroundings} surroundings
 * @returns {Promise<Stage>}
 * @throws Error with the output of a RUN that failed.
 */
export async function buildImage(surroundings) {
  const { context, directory, tarballs } = surroundings
  /** @type {Map<string, Stage>} */
  const stages = new Map()
  /** @type {Stage | undefined} */
  let stage
  for (const step of await dockerfileSteps(join(context, 'Dockerfile'))) {
    if (step.keyword === 'FROM') {
      stage = await beginStage(join(directory, `stage-${stages.size}`), tarballs)
      stages.set(step.stage ?? `${stages.size}`, stage)
    } else {
      if (stage === undefined) throw new Error(`${step.keyword} before the first FROM`)
      await apply(step, stage, { ...surroundings, stages })
    }
  }
  if (stage === undefined) throw new Error('the Dockerfile has no FROM')
  return stage
}

/**
 * @param {string} root
 * @param {string} tarballs
 * @returns {Promise<Stage>}
 */
async function beginStage(root, tarballs) {
  await cp(tarballs, join(root, 'tarballs'), { recursive: true })
  return {
    root,
    workingDirectory: root,
    environment: {},
    user: 'root',
    command: undefined,
    healthcheck: undefined,
  }
}

/**
 * @param {Exclude<Step, { keyword: 'FROM' }>} step
 * @param {Stage} stage
 * @param {Surroundings & { stages: Map<string, Stage> }} build
 */
async function apply(step, stage, build) {
  switch (step.keyword) {
    case 'WORKDIR':
      stage.workingDirectory = inStage(stage, step.value)
      await mkdir(stage.workingDirectory, { recursive: true })
      break
    case 'ENV':
      stage.environment = { ...stage.environment, ...step.values }
      break
    case 'COPY':
      await copy(step, stage, build)
      break
    case 'RUN':
      for (const cache of step.caches) await mkdir(inStage(stage, cache), { recursive: true })
      await runAs(build.account, ['sh', '-c', step.command], {
        folder: stage.root,
        cwd: stage.workingDirectory,
        environment: { ...build.environment, HOME: stage.root, ...stage.environment },
      })
      break
    case 'USER':
      stage.user = step.value
      break
    case 'CMD':
      stage.command = step.command
      break
    case 'HEALTHCHECK':
      stage.healthcheck = step.command
      break
    default:
  }
}

/**
 * @param {Stage} stage
 * @param {string} path
 */
function inStage(stage, path) {
  return isAbsolute(path) ? join(stage.root, path) : join(stage.workingDirectory, path)
}

/**
 * From the context without what .dockerignore names, or from another stage; what a folder holds is copied, not the
 * folder.
 *
 * @param {Extract<Step, { keyword: 'COPY' }>} step
 * @param {Stage} stage
 * @param {Surroundings & { stages: Map<string, Stage> }} build
 */
async function copy({ from, sources, destination }, stage, { context, stages }) {
  const origin = from === undefined ? context : stages.get(from)?.root
  if (origin === undefined) throw new Error(`COPY --from=${from}: there is no such stage`)
  const ignore = createIgnore.default().add(await readFile(join(context, '.dockerignore'), 'utf8'))
  const filter = (/** @type {string} */ source) => {
    const inside = relative(context, source)
    return from !== undefined || inside === '' || !ignore.ignores(inside)
  }
  for (const source of sources) {
    const found = join(origin, source)
    const isFolder = (await stat(found)).isDirectory()
    const target = join(inStage(stage, destination), isFolder ? '' : basename(source))
    await cp(found, target, { recursive: true, verbatimSymlinks: true, filter })
  }
}
