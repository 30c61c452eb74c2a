import http from 'node:http'
import { listenLocally } from './listen-locally.ts'

/** An exchange on the wire. Responses from the browser's cache are not included. */
export interface Exchange {
  readonly method: string
  /** The path and the query. */
  readonly target: string
  readonly requestHeaders: http.IncomingHttpHeaders
  readonly status: number
  readonly responseHeaders: http.IncomingHttpHeaders
}

export interface RecordingProxy {
  /** The URL of the proxy, with the path of the target. */
  readonly url: URL
  /** Returns the exchanges since the last call, and clears them. */
  take(): Exchange[]
  close(): Promise<void>
}

/**
 * Starts a proxy that records every exchange between a browser and a server, and changes nothing.
 *
 * @param choose - selects the server of a request, if there are several
 */
export async function startRecordingProxy(
  target: URL,
  choose: (request: http.IncomingMessage) => URL = () => target,
): Promise<RecordingProxy> {
  let exchanges: Exchange[] = []
  const server = http.createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request
    const { hostname, port } = choose(request)
    const options = { host: hostname, port, method, path: url, headers }
    const onward = http.request(options, (answer) => {
      const status = answer.statusCode ?? 502
      exchanges.push({
        method,
        target: url,
        requestHeaders: headers,
        status,
        responseHeaders: answer.headers,
      })
      response.writeHead(status, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    request.pipe(onward)
  })
  const { url: own, close } = await listenLocally(server)
  const url = new URL(target)
  url.port = own.port
  return {
    url,
    take: () => {
      const taken = exchanges
      exchanges = []
      return taken
    },
    close,
  }
}
