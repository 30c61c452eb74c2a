import http from 'node:http'
import https from 'node:https'

export interface SendRequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ReceivedResponse {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** The body as received, without decoding. */
  readonly body: Buffer
}

/** Sends one request. Returns the whole response as received. */
export function sendRequest(url: URL, options: SendRequestOptions = {}): Promise<ReceivedResponse> {
  const { method = 'GET', headers = {} } = options
  return new Promise((resolve, reject) => {
    const client = url.protocol === 'https:' ? https : http
    // Test certificates are self-signed.
    const sent = { method, headers, agent: false, rejectUnauthorized: false }
    const request = client.request(url, sent, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        })
      })
    })
    request.once('error', reject)
    request.end()
  })
}
