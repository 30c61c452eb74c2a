import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { OperatorError, checkServingRules } from '@serve-dist/manifest'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServingRules } from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'

const names = ['serve-dist.config.js', 'serve-dist.config.mjs', 'serve-dist.config.json']
/** Names that Vite accepts for its configuration but that are unsupported here: Node 20 cannot run TypeScript. */
const otherNames = ['ts', 'mts', 'cts', 'cjs'].map((extension) => `serve-dist.config.${extension}`)

/** The default export of `serve-dist.config.js`, and the content of `serve-dist.config.json`. */
export type ServeDistConfig = ServingRules

/** Returns its argument. Editors use it to check the type of a configuration. */
export function defineConfig(config: ServeDistConfig): ServeDistConfig {
  return config
}

/**
 * Reads `serve-dist.config.js`, `.mjs` or `.json` of a folder, or the named file. Returns no rules if there is no file.
 *
 * @throws OperatorError that names the file and each invalid key or value.
 */
export async function readConfig(folder: string, named?: string): Promise<ServeDistConfig> {
  return (await readConfigFile(folder, named)).config
}

/** A configuration, and its file. */
export interface ReadConfig {
  readonly config: ServeDistConfig
  readonly path: string | undefined
}

/** Reads a configuration like {@link readConfig}, and names its file. */
export async function readConfigFile(folder: string, named?: string): Promise<ReadConfig> {
  const candidates = named === undefined ? names.map((name) => join(folder, name)) : [resolve(folder, named)]
  const found = (await Promise.all(candidates.map(readCandidate))).filter((file) => file !== undefined)
  const [file, second] = found
  if (file === undefined) {
    if (named === undefined) {
      await refuseOtherNames(folder)
      return { config: {}, path: undefined }
    }
    throw new OperatorError('SD_CONFIG_INVALID', [
      `${resolve(folder, named)}: the file does not exist. Pass a .js, .mjs or .json file with --config.`,
    ])
  }
  if (second !== undefined)
    throw new OperatorError('SD_CONFIG_INVALID', [
      `${file.path} and ${second.path}: only one of them is allowed. Remove the other.`,
    ])
  try {
    return { config: checkServingRules(await evaluate(file), ''), path: file.path }
  } catch (error) {
    const problems = error instanceof Error ? error.message.split('\n') : [String(error)]
    throw new OperatorError(
      'SD_CONFIG_INVALID',
      problems.map((problem) => `${file.path}: ${problem}`),
      { cause: error },
    )
  }
}

/** Refuses other names, because the server would silently ignore the rules in such a file. */
async function refuseOtherNames(folder: string): Promise<void> {
  const found = (await Promise.all(otherNames.map((name) => readCandidate(join(folder, name))))).find(
    (file) => file !== undefined,
  )
  if (found === undefined) return
  throw new OperatorError('SD_CONFIG_INVALID', [
    `${found.path}: the server does not read a configuration with this name. Rename it to serve-dist.config.js, .mjs or .json. If Node can run it, pass it with --config instead.`,
  ])
}

interface ConfigFile {
  readonly path: string
  readonly text: string
}

async function readCandidate(path: string): Promise<ConfigFile | undefined> {
  // Faster than failing reads of seven names at every start.
  const text = existsSync(path) ? await readOptional(path, { code: 'SD_CONFIG_INVALID' }) : undefined
  return text === undefined ? undefined : { path, text }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    // The message quotes the text with its line breaks.
    throw new TypeError(reasonOf(error).replaceAll(/\s+/g, ' '), { cause: error })
  }
}

async function evaluate({ path, text }: ConfigFile): Promise<unknown> {
  if (path.endsWith('.json')) {
    const document = parse(text)
    // Only editors use this key.
    Reflect.deleteProperty(Object(document), '$schema')
    return document
  }
  const module: unknown = await import(pathToFileURL(path).href)
  const config: unknown = Object(module).default
  if (config === undefined) throw new TypeError('it has no default export. Write "export default { … }".')
  return config
}
