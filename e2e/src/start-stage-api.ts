import http from 'node:http'
import { listenLocally, type LocalServer } from './listen-locally.ts'

/**
 * The API of one stage, on its own origin. It allows all origins, and answers with a document or with the
 * stage's name.
 */
export interface StageApi extends LocalServer {
  readonly stage: string
  /** The URL of a script that records in the page that it ran. */
  readonly script: URL
}

/** Starts the API in a stage's environment. `documents` are its JSON responses by path. */
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
