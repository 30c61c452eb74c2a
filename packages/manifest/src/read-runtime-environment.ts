import type { DocumentReader } from './document-reader.ts'
import { isJson } from '@serve-dist/foundation/values/is-json'
import {
  deepestJson,
  type EnvironmentVariable,
  environmentTypes,
  type RuntimeEnvironment,
} from './runtime-environment.ts'

/** What both a shell and a Kubernetes ConfigMap take for the name of a variable (POSIX.1-2017 §8.1, lower case too). */
const nameForm = /^[A-Za-z_]\w*$/

/** Reads what a build takes from its environment; notes what is wrong with it. */
export function readRuntimeEnvironment(environment: DocumentReader): RuntimeEnvironment {
  const prefix = environment.field('prefix')
  return {
    path: environment.field('path').servablePath(),
    prefix: prefix.where(isPrefix, 'the beginning of the name of a variable, such as "APP_"'),
    variables: readEnvironmentVariables(environment.field('variables')),
  }
}

/** Reads variables by name; a `type` that is left out is `string`. */
export function readEnvironmentVariables(
  variables: DocumentReader,
): Readonly<Record<string, EnvironmentVariable>> {
  return variables.record((variable, name) => {
    if (!nameForm.test(name)) {
      variable.problem('expected a name of letters, digits and "_" that does not begin with a digit')
    }
    return readVariable(variable)
  })
}

function readVariable(variable: DocumentReader): EnvironmentVariable {
  if (!variable.isObject) variable.expected('an object such as { "type": "string", "required": true }')
  const type = variable.field('type')
  const required = variable.field('required')
  const preset = variable.field('default')
  const read = { type: type.value === undefined ? 'string' : type.oneOf(environmentTypes) } as const
  const isRequired = required.value !== undefined && required.boolean()
  if (preset.value !== undefined) {
    if (isRequired) preset.problem('a required variable takes no default; remove one of the two')
    if (read.type !== 'json' && typeof preset.value !== read.type) preset.expected(`a ${read.type}`)
    else if (read.type === 'number' && !Number.isFinite(preset.value)) preset.expected('a finite number')
    else if (!isJson(preset.value, deepestJson)) preset.expected('a value that JSON holds as it is')
  }
  return {
    ...read,
    ...(isRequired && { required: true }),
    ...(preset.value !== undefined && { default: preset.value }),
  }
}

function isPrefix(text: string): boolean {
  return text === '' || nameForm.test(text)
}
