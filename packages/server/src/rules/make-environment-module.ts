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
import { type VariableReader, variableReader } from './variable-reader.ts'

export interface EnvironmentSources {
  /** Takes precedence over the file. @default process.env */
  readonly environment?: EnvironmentSource
  readonly envFile?: string
  /** Whether invalid variables are problems. */
  readonly needsEnvironment: boolean
}

/** The environment of a build in this process. */
export interface MadeEnvironment {
  readonly values: EnvironmentValues
  /** Returns the value of any variable, for rules. */
  readonly readVariable: VariableReader
  /** The generated module that replaces the build's file; `undefined` if the build uses no variables. */
  readonly module: EnvironmentModule | undefined
  /** Problems with the file and with variables. They never contain a value. */
  readonly problems: readonly string[]
}

export interface EnvironmentModule {
  readonly file: ManifestFile
  readonly body: Uint8Array<ArrayBuffer>
}

/** Reads only the variables that the build lists, and generates its module. */
export async function makeEnvironmentModule(
  { environment, files, lastModified }: Manifest,
  { environment: outer = process.env, envFile, needsEnvironment }: EnvironmentSources,
): Promise<MadeEnvironment> {
  const problems: string[] = []
  const inFile = envFile === undefined ? {} : await readEnvFile(envFile).catch(noteProblems(problems))
  const [readOuter, readFile] = [variableReader(outer), variableReader(inFile)]
  const readVariable = (name: string): string | undefined => readOuter(name) ?? readFile(name)
  if (environment === undefined) return { values: {}, readVariable, module: undefined, problems }
  const { path, prefix } = environment
  const { source, unreadable, ...picked } = pickTexts(environment, outer, inFile)
  const { values, problems: wrong } = readEnvironment({ prefix, ...picked }, source)
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
  return { values, readVariable, module: { file, body }, problems }
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

/** Returns the listed variables with readable values, their texts, and problems with the others. */
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
    unreadable.push(`${name}: ${typeof text === 'string' ? 'its bytes are not UTF-8' : 'expected a string'}`)
    return false
  })
  return { variables: Object.fromEntries(readable), source: Object.fromEntries(texts), unreadable }
}

function ownText(source: EnvironmentSource, name: string): unknown {
  return Object.hasOwn(source, name) ? source[name] : undefined
}

/**
 * Whether a value came from bytes that are not UTF-8. Node replaces such bytes by U+FFFD, which may also be a valid part of
 * a value. A child process of Node receives U+FFFD, so the environment of the parent process is checked as well.
 */
function isUndecodable(name: string, text: string): boolean {
  if (!text.includes('\uFFFD') || process.env[name] !== text) return false
  return ['self', String(process.ppid)].some((id) => {
    const bytes = bytesOfVariable(id, name)
    return bytes !== undefined && !isUtf8(bytes)
  })
}

/** Returns the initial value of a variable, or `undefined` if the system does not expose it. */
function bytesOfVariable(processId: string, name: string): Buffer | undefined {
  try {
    const entries = readFileSync(`/proc/${processId}/environ`, 'latin1').split('\0')
    const entry = entries.find((each) => each.startsWith(`${name}=`))
    return entry === undefined ? undefined : Buffer.from(entry.slice(name.length + 1), 'latin1')
  } catch {
    return undefined
  }
}
