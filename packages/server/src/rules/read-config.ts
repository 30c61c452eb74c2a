import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { OperatorError, checkServingRules, shellWord } from '@serve-dist/manifest'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServingRules } from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'

const names = ['serve-dist.config.js', 'serve-dist.config.mjs', 'serve-dist.config.json']
/** Names that Vite accepts for its configuration but that are unsupported here: Node 20 cannot run TypeScript. */
const otherNames = ['ts', 'mts', 'cts', 'cjs'].map((extension) => `serve-dist.config.${extension}`)

const defaultExport = '"export default { … }"'

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
      `${resolve(folder, named)}: the file does not exist. Correct the path after --config.`,
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
    `${found.path}: the server does not read a configuration with this name. Write ${defaultExport} in serve-dist.config.js or .mjs, or JSON in serve-dist.config.json. If Node can run this file, pass it with --config instead.`,
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

async function evaluate(file: ConfigFile): Promise<unknown> {
  const read = file.path.endsWith('.json') ? readJson : readModule
  const config = await read(file).catch((error: unknown) => {
    throw new TypeError(describeFailure(error, file), { cause: error })
  })
  if (config === undefined) throw new TypeError(`it has no default export. Write ${defaultExport}.`)
  return config
}

async function readJson({ text }: ConfigFile): Promise<unknown> {
  const document: unknown = JSON.parse(text)
  // Only editors use this key.
  Reflect.deleteProperty(Object(document), '$schema')
  return document
}

async function readModule({ path }: ConfigFile): Promise<unknown> {
  const module: unknown = await import(pathToFileURL(path).href)
  return Object(module).default
}

/** Describes why a configuration cannot be read, and the line if the error contains it. */
function describeFailure(error: unknown, file: ConfigFile): string {
  // Some messages quote the text with its line breaks.
  const reason = reasonOf(error).replaceAll(/\s+/g, ' ')
  if (/^(?:module|exports) is not defined in ES module scope/.test(reason))
    return `it is an ES module. Write ${defaultExport}.`
  if (Object(error).code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `Node.js ${process.versions.node} cannot run this file. Write it in JavaScript, or use a newer Node.js.`
  const line = lineOf(error, file)
  if (line !== undefined) return `line ${line}: ${reason}. Correct this line.`
  if (file.path.endsWith('.json')) return `${reason}. Correct the file.`
  // Node prints the line of a syntax error, but its error does not contain it.
  return `${reason}. To see the line, run: node ${shellWord(file.path)}`
}

function lineOf(error: unknown, { path, text }: ConfigFile): number | undefined {
  if (path.endsWith('.json')) {
    const [, position] = /at position (\d+)/.exec(reasonOf(error)) ?? []
    return position === undefined ? undefined : text.slice(0, Number(position)).split('\n').length
  }
  const [, line] = String(Object(error).stack).split(`${pathToFileURL(path).href}:`)
  return line === undefined ? undefined : Number.parseInt(line, 10)
}
