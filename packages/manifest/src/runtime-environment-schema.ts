import { isJson } from '@serve-dist/foundation/values/is-json'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { servablePath } from './document-schemas.ts'
import * as s from './schema.ts'
import {
  deepestJson,
  type EnvironmentType,
  type EnvironmentVariable,
  environmentTypes,
  type RuntimeEnvironment,
} from './runtime-environment.ts'

/** Names of variables that a shell and a Kubernetes ConfigMap accept (POSIX.1-2017 §8.1, including lower case). */
const nameForm = /^[A-Za-z_]\w*$/

const variableName = s.checked(s.text('a name'), (name, note) => {
  if (!nameForm.test(name))
    note('expected a name of letters, digits and "_" that does not start with a digit')
})

interface GivenVariable {
  readonly type: EnvironmentType
  readonly required?: boolean
  readonly default?: unknown
}

/** Creates the schema of variables by name. The default `type` is `string`. */
export function environmentVariables(
  form: s.ObjectForm = {},
): s.Schema<Readonly<Record<string, EnvironmentVariable>>> {
  const given = s.objectOf<GivenVariable>(
    {
      type: s.withDefault(s.oneOf(environmentTypes), () => 'string'),
      required: s.optional(s.trueOrFalse),
      default: s.optional(s.anything),
    },
    { ...form, what: 'an object such as { "type": "string", "required": true }' },
  )
  const variable = s.checked(given, ({ type, required = false, default: preset }, note) => {
    if (preset === undefined) return
    if (required) note('a required variable cannot have a default. Remove one of the two.', 'default')
    const problem = presetProblem(type, preset)
    if (problem !== undefined) note(describeMismatch(problem, preset), 'default')
  })
  return s.recordOf(
    s.converted(variable, ({ type, required, default: preset }) => ({
      type,
      ...(required === true && { required }),
      ...(preset !== undefined && { default: preset }),
    })),
    variableName,
  )
}

/** The variables that a build reads from the environment of its server. */
export const runtimeEnvironment: s.Schema<RuntimeEnvironment> = s.lazy(() =>
  s.objectOf<RuntimeEnvironment>({
    path: servablePath,
    prefix: s.text(
      'the prefix of a variable name, such as "APP_"',
      (prefix) => prefix === '' || nameForm.test(prefix),
    ),
    variables: environmentVariables(),
  }),
)

/** Returns the expected value if the type does not allow the given one. */
function presetProblem(type: EnvironmentType, preset: unknown): string | undefined {
  if (type !== 'json' && typeof preset !== type) return `a ${type}`
  if (type === 'number' && !Number.isFinite(preset)) return 'a finite number'
  return isJson(preset, deepestJson) ? undefined : 'a value that JSON can represent'
}
