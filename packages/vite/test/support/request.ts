import { request as open } from 'node:http'

/** A raw response without decoding or redirects. */
export interface RawAnswer {
  readonly status: number
  readonly fields: NodeJS.Dict<string | string[]>
  readonly body: Buffer
}

export interface RawRequest {
  readonly method?: string
  readonly fields?: Record<string, string>
}

/** Sends a request to this port of the loopback address. */
export function request(
  port: number,
  path: string,
  { method = 'GET', fields = {} }: RawRequest = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = open(
      { host: '127.0.0.1', port, path, method, headers: fields, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, fields: response.headers, body: Buffer.concat(chunks) })
        })
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}
