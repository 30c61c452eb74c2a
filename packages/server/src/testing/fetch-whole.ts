import { createHash } from 'node:crypto'
import { type Agent, get, type IncomingMessage } from 'node:http'

/** What came of a request that was read to its end. */
export interface WholeAnswer {
  readonly status: number | undefined
  readonly field: (name: string) => string | undefined
  readonly length: number
  readonly sha256: string
}

export interface FetchOptions {
  readonly port: number
  readonly path: string
  readonly acceptEncoding: string
  /** `false` for a connection of its own. */
  readonly agent: Agent | false
  /** Waited for after each chunk, by slow readers. */
  readonly pause?: (received: number) => Promise<unknown> | undefined
}

/** Gets a body as it comes over the wire; an error for one that breaks off. */
export async function fetchWhole(options: FetchOptions): Promise<WholeAnswer> {
  const { port, path, acceptEncoding, agent, pause } = options
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'Accept-Encoding': acceptEncoding }
    get({ port, host: '127.0.0.1', path: `/${path}`, agent, headers }, resolve).once('error', reject)
  })
  const digest = createHash('sha256')
  let length = 0
  for await (const chunk of response) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a body is read as text')
    digest.update(chunk)
    length += chunk.length
    await pause?.(length)
  }
  if (!response.complete) throw new Error(`${path} broke off after ${length} bytes`)
  return {
    status: response.statusCode,
    field: (name) => response.headers[name.toLowerCase()]?.toString(),
    length,
    sha256: digest.digest('hex'),
  }
}
