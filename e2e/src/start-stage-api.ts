import http from 'node:http'
import { listenLocally, type LocalServer } from './listen-locally.ts'

/**
 * The API of one stage, on an origin of its own: to every origin it answers with a document, and with the stage's name
 * where it has none.
 */
export interface StageApi extends LocalServer {
  readonly stage: string
  /** A script there that says in the page that it ran. */
  readonly script: URL
}

/** Starts the API that a build's environment names in this stage; `documents` are what it has by path, as JSON. */
export async function startStageApi(
  stage: string,
  documents: Readonly<Record<string, unknown>> = {},
): Promise<StageApi> {
  const server = http.createServer((request, response) => {
    const document = documents[request.url ?? '']
    const isScript = request.url === '/injected.js'
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/plain')
    if (isScript) response.end("globalThis.ran.push('another origin')")
    else response.end(document === undefined ? stage : JSON.stringify(document))
  })
  const { url, close } = await listenLocally(server)
  return { stage, url, script: new URL('injected.js', url), close }
}
