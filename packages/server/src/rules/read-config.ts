import { OperatorError, checkServingRules } from '@serve-dist/manifest'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServingRules } from '@serve-dist/manifest'
import { readOptional } from '../files/read-optional.ts'

const names = ['serve-dist.config.js', 'serve-dist.config.mjs', 'serve-dist.config.json']
/** What Vite's own configuration may be called, and this one not: Node 20 runs no TypeScript. */
const otherNames = ['ts', 'mts', 'cts', 'cjs'].map((extension) => `serve-dist.config.${extension}`)

/** The type of what `serve-dist.config.js` exports by default; `serve-dist.config.json` holds the same. */
export type ServeDistConfig = ServingRules

/** Answers its argument: for editors, which then know the type. */
export function defineConfig(config: ServeDistConfig): ServeDistConfig {
  return config
}

/**
 * Reads `serve-dist.config.js`, `.mjs` or `.json` of a folder, or the named file; without one there are no
 * rules.
 *
 * @throws OperatorError that names the file and each key or value that is wrong.
 */
export async function readConfig(folder: string, named?: string): Promise<ServeDistConfig> {
  const candidates = named === undefined ? names.map((name) => join(folder, name)) : [resolve(folder, named)]
  const found = (await Promise.all(candidates.map(readCandidate))).filter((file) => file !== undefined)
  const [file, second] = found
  if (file === undefined) {
    if (named === undefined) return await refuseOtherNames(folder)
    throw new OperatorError('SD_CONFIG_INVALID', [
      `${resolve(folder, named)}: no such file; --config names a serve-dist.config.js, .mjs or .json`,
    ])
  }
  if (second !== undefined)
    throw new OperatorError('SD_CONFIG_INVALID', [
      `${file.path} and ${second.path}: only one of them counts; remove the other`,
    ])
  try {
    return checkServingRules(await evaluate(file), '')
  } catch (error) {
    const problems = error instanceof Error ? error.message.split('\n') : [String(error)]
    throw new OperatorError(
      'SD_CONFIG_INVALID',
      problems.map((problem) => `${file.path}: ${problem}`),
      { cause: error },
    )
  }
}

/** Nobody would learn that rules in such a file do not count. */
async function refuseOtherNames(folder: string): Promise<ServeDistConfig> {
  const found = (await Promise.all(otherNames.map((name) => readCandidate(join(folder, name))))).find(
    (file) => file !== undefined,
  )
  if (found === undefined) return {}
  throw new OperatorError('SD_CONFIG_INVALID', [
    `${found.path}: no configuration of this name is read; call it serve-dist.config.js, .mjs or .json, or name it with --config where Node can run it`,
  ])
}

interface ConfigFile {
  readonly path: string
  readonly text: string
}

async function readCandidate(path: string): Promise<ConfigFile | undefined> {
  // Cheaper than seven failing reads at every start.
  const text = existsSync(path) ? await readOptional(path, 'SD_CONFIG_INVALID') : undefined
  return text === undefined ? undefined : { path, text }
}

async function evaluate({ path, text }: ConfigFile): Promise<unknown> {
  if (path.endsWith('.json')) {
    const document: unknown = JSON.parse(text)
    // For editors.
    Reflect.deleteProperty(Object(document), '$schema')
    return document
  }
  const module: unknown = await import(pathToFileURL(path).href)
  const config: unknown = Object(module).default
  if (config === undefined) throw new TypeError('it has no default export; write "export default { … }"')
  return config
}
