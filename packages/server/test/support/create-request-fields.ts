import { noRequestFields, type RequestFields } from '../../src/protocol/request-fields.ts'

/** Creates a request without fields, except for the given ones. */
export function createRequestFields(given: Partial<RequestFields> = {}): RequestFields {
  return { ...noRequestFields, ...given }
}
