import { ServerResponse } from 'node:http'
import { extendVary } from './field-list.ts'
import { isMerelyObserved, observationOf } from './observation.ts'
import type { Answer } from './site.ts'

/**
 * Writes an answer's status and fields. The prebuilt list goes to Node as it is, unless somebody before
 * us has set fields or wrapped the response (compression, session and logging middleware do): then each
 * field is set by name, so that it replaces one of the same name, and `Vary` is extended.
 */
export function writeHead(response: ServerResponse, answer: Answer): void {
  if (isUntouched(response)) {
    writeList(response, answer)
    return
  }
  const noted = observationOf(response)
  if (noted !== undefined) {
    noted.answer = answer
    if (isMerelyObserved(response) && hasNoFields(response)) {
      writeList(response, answer)
      return
    }
  }
  const { fields } = answer
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? ''
    const value = fields[index + 1] ?? ''
    response.setHeader(
      name,
      name === 'Vary' ? extendVary(String(response.getHeader('Vary') ?? ''), value) : value,
    )
  }
  response.writeHead(answer.status)
}

function writeList(response: ServerResponse, { status, fields }: Answer): void {
  // Node only reads the list, though its types ask for one that it may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  response.writeHead(status, fields as string[])
}

function isUntouched(response: ServerResponse): boolean {
  return response.writeHead === ServerResponse.prototype.writeHead && hasNoFields(response)
}

/** HTTP/2 takes no flat lists. */
function hasNoFields(response: ServerResponse): boolean {
  return response instanceof ServerResponse && response.getHeaderNames().length === 0
}
