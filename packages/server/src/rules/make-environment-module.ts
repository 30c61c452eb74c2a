import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import {
  environmentModule,
  type EnvironmentSource,
  type EnvironmentValues,
  type Manifest,
  type ManifestFile,
  OperatorError,
  readEnvironment,
  type RuntimeEnvironment,
} from '@serve-dist/manifest'
import { readEnvFile } from './read-env-file.ts'

/** Where the values of a build come from. */
export interface EnvironmentSources {
  /** Outranks the file. @default process.env */
  readonly environment?: EnvironmentSource
  readonly envFile?: string
  /** Whether what is wrong with variables is a problem. */
  readonly needsEnvironment: boolean
}

/** What a build's environment is in this process. */
export interface MadeEnvironment {
  readonly values: EnvironmentValues
  /** The module in the place of the build's own file; `undefined` where the build takes nothing. */
  readonly module: EnvironmentModule | undefined
  /** What is wrong with the file, and a line for each variable that is; none shows a value. */
  readonly problems: readonly string[]
}

/** A file of the build that is made here. */
export interface EnvironmentModule {
  readonly file: ManifestFile
  readonly body: Uint8Array<ArrayBuffer>
}

/** Reads the variables that the build lists, and no other ones, and makes its module of them. */
export async function makeEnvironmentModule(
  { environment, files, lastModified }: Manifest,
  { environment: outer = process.env, envFile, needsEnvironment }: EnvironmentSources,
): Promise<MadeEnvironment> {
  const problems: string[] = []
  const inFile = envFile === undefined ? {} : await readEnvFile(envFile).catch(noteProblems(problems))
  if (environment === undefined) return { values: {}, module: undefined, problems }
  const { path, prefix } = environment
  const { variables, source, unreadable } = pickTexts(environment, outer, inFile)
  const { values, problems: wrong } = readEnvironment({ prefix, variables }, source)
  if (needsEnvironment) problems.push(...unreadable, ...wrong)
  const body = new TextEncoder().encode(environmentModule(values))
  const file: ManifestFile = {
    lastModified,
    ...files.find((each) => each.path === path),
    path,
    mediaType: 'text/javascript; charset=utf-8',
    size: body.length,
    sha256: sha256Of(body),
    cache: 'revalidate',
    variants: [],
    runtime: true,
  }
  return { values, module: { file, body }, problems }
}

function noteProblems(problems: string[]): (error: unknown) => EnvironmentSource {
  return (error) => {
    if (!(error instanceof OperatorError)) throw error
    problems.push(...error.problems)
    return {}
  }
}

interface PickedTexts extends Pick<RuntimeEnvironment, 'variables'> {
  readonly source: EnvironmentSource
  readonly unreadable: readonly string[]
}

/** The listed texts, and the variables that have one or need one. */
function pickTexts(
  { prefix, variables }: RuntimeEnvironment,
  outer: EnvironmentSource,
  inFile: EnvironmentSource,
): PickedTexts {
  const unreadable: string[] = []
  const texts: [string, string][] = []
  const readable = Object.entries(variables).filter(([key]) => {
    const name = prefix + key
    const text: unknown = ownText(outer, name) ?? ownText(inFile, name)
    if (text === undefined) return true
    if (typeof text === 'string' && !isUndecodable(name, text)) {
      texts.push([name, text])
      return true
    }
    unreadable.push(`${name}: ${typeof text === 'string' ? 'its bytes are not UTF-8' : 'expected a text'}`)
    return false
  })
  return { variables: Object.fromEntries(readable), source: Object.fromEntries(texts), unreadable }
}

function ownText(source: EnvironmentSource, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined
}

/**
 * Whether a text came from bytes that are not UTF-8: Node shows U+FFFD in their place, which may stand there by right,
 * too. A process that another Node has started got U+FFFD already, so that its parent is looked at as well.
 */
function isUndecodable(name: string, text: string): boolean {
  if (!text.includes('\uFFFD') || process.env[name] !== text) return false
  return ['self', String(process.ppid)].some((id) => {
    const bytes = bytesOfVariable(id, name)
    return bytes !== undefined && !isUtf8(bytes)
  })
}

/** What a process was started with; `undefined` where the system does not tell, or has no such variable. */
function bytesOfVariable(processId: string, name: string): Buffer | undefined {
  try {
    const entries = readFileSync(`/proc/${processId}/environ`, 'latin1').split('\0')
    const entry = entries.find((each) => each.startsWith(`${name}=`))
    return entry === undefined ? undefined : Buffer.from(entry.slice(name.length + 1), 'latin1')
  } catch {
    return undefined
  }
}
