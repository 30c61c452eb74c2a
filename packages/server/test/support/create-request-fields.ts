import { noRequestFields, type RequestFields } from '../../src/protocol/request-fields.ts'

/** A request without any field, changed by what is given. */
export function createRequestFields(given: Partial<RequestFields> = {}): RequestFields {
  return { ...noRequestFields, ...given }
}
