import http from 'node:http'

/** The API of one stage, on an origin of its own: it answers each request with the stage's name, to every origin. */
export interface StageApi {
  readonly url: URL
  /** A script there that says in the page that it ran. */
  readonly script: URL
  close(): Promise<void>
}

/** Starts the API that a build's environment names in this stage. */
export async function startStageApi(stage: string): Promise<StageApi> {
  const server = http.createServer((request, response) => {
    const isScript = request.url === '/injected.js'
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/plain')
    response.end(isScript ? "globalThis.ran.push('another origin')" : stage)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the API has no port')
  const url = new URL(`http://127.0.0.1:${address.port}/`)
  return {
    url,
    script: new URL('injected.js', url),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
