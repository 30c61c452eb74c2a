import http from 'node:http'
import { listenLocally } from './listen-locally.ts'

/** One exchange as it went over the wire, whatever a browser's cache made of it. */
export interface Exchange {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly requestHeaders: http.IncomingHttpHeaders
  readonly status: number
  readonly responseHeaders: http.IncomingHttpHeaders
}

export interface RecordingProxy {
  /** The same path as the target's, at the proxy's own port. */
  readonly url: URL
  /** Answers what was recorded since the last call, and forgets it. */
  take(): Exchange[]
  close(): Promise<void>
}

/**
 * Stands between a browser and a server, changes nothing, and remembers every exchange.
 *
 * @param choose - the server for a request, where there are several.
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
