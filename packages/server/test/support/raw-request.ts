import { type Dial, openConnection } from './open-connection.ts'
import type { RawResponse } from './parse-response.ts'

/** The parts of a request. Only `Host` and `Connection: close` are added. */
export interface RawRequest {
  readonly method?: string
  readonly target?: string
  readonly version?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends one request on a new connection. Fails if bytes follow the response. */
export async function rawRequest(port: number, request: RawRequest = {}, dial?: Dial): Promise<RawResponse> {
  const { method = 'GET', body = '' } = request
  const connection = await openConnection(port, dial)
  try {
    connection.send(formatRequest({ ...request, fields: { ...request.fields, Connection: 'close' } }) + body)
    const response = await connection.receive(method)
    const rest = await connection.rest()
    if (rest.length > 0) throw new Error(`after the response: ${JSON.stringify(rest.toString('latin1'))}`)
    return response
  } finally {
    connection.socket.destroy()
  }
}

/** Formats the head of a request, with `Host`. */
export function formatRequest({
  method = 'GET',
  target = '/',
  version = 'HTTP/1.1',
  fields = {},
}: RawRequest): string {
  const lines = Object.entries({ Host: 'example.org', ...fields }).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target} ${version}`, ...lines, '', ''].join('\r\n')
}
