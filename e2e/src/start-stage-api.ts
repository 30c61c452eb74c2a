import http from 'node:http'
import { listenLocally, type LocalServer } from './listen-locally.ts'

/** The API of one stage, on an origin of its own: it answers each request with the stage's name, to every origin. */
export interface StageApi extends LocalServer {
  readonly stage: string
  /** A script there that says in the page that it ran. */
  readonly script: URL
}

/** Starts the API that a build's environment names in this stage. */
export async function startStageApi(stage: string): Promise<StageApi> {
  const server = http.createServer((request, response) => {
    const isScript = request.url === '/injected.js'
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/plain')
    response.end(isScript ? "globalThis.ran.push('another origin')" : stage)
  })
  const { url, close } = await listenLocally(server)
  return { stage, url, script: new URL('injected.js', url), close }
}
