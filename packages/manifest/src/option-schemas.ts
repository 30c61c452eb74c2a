import { byteSizeForm, byteSizeOf } from '@serve-dist/foundation/text/byte-size'
import { describeUnknownName } from '@serve-dist/foundation/text/describe-unknown-name'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import type { ByteSize } from './byte-size.ts'
import { OperatorError } from './operator-error.ts'
import * as s from './schema.ts'

/**
 * Reads options and fills in their defaults.
 *
 * @param place - the name of the options for messages.
 * @throws OperatorError `SD_OPTION_INVALID` that lists every unknown option and every invalid value.
 */
export function readOptions<Options>(schema: s.Schema<Options>, given: unknown, place = ''): Options {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `${place || 'options'}: ${describeMismatch('an object', given)}`,
    )
  }
  return s.read(schema, given, place, (problems) => new OperatorError('SD_OPTION_INVALID', problems))
}

/** Creates the schema of options by name. `undefined` counts as missing. */
export function optionsOf<Options extends object>(fields: s.Fields<Options>): s.Schema<Options> {
  return s.objectOf(fields, {
    unknownKey: (key, known) => describeUnknownName('option', key, known),
  })
}

/** Creates the schema of a size, which is converted to bytes. */
export function byteSize(
  what: string = byteSizeForm,
  holds = (_bytes: number): boolean => true,
): s.Schema<number> {
  const isSize = (value: unknown): boolean => {
    const bytes = byteSizeOf(value)
    return bytes !== undefined && holds(bytes)
  }
  return s.converted(s.expecting<ByteSize>(what, isSize), (size) => byteSizeOf(size) ?? 0)
}

/** Creates the schema of a text that is not empty. */
export function filledText(what: string): s.Schema<string> {
  return s.text(what, (value) => value !== '')
}

export function functionOf<Callback>(): s.Schema<Callback> {
  return s.expecting('a function', (value) => typeof value === 'function')
}

export function numberOf(things: string): s.Schema<number> {
  return s.expecting(`a number of ${things}, 0 or more`, (value) => typeof value === 'number' && value >= 0)
}

/** The number of a port. 0 selects a free port. */
export const portNumber: s.Schema<number> = s.wholeNumber('a whole number from 0 to 65535', 65_535)

export const abortSignal: s.Schema<AbortSignal> = s.expecting(
  'an AbortSignal',
  (value) => value instanceof AbortSignal,
)
