import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { StrictMode } from 'react'
import { renderToPipeableStream } from 'react-dom/server'
import { type WebSocket, WebSocketServer } from 'ws'
import { App } from './app.tsx'
import type { Forecast } from './forecast.ts'

/** Vite's manifest of the client's build, in the folder next to this build. */
const manifest = JSON.parse(readFileSync(new URL('../client/.vite/manifest.json', import.meta.url), 'utf8'))
const { file, css = [] } = manifest['src/entry-client.tsx']
const styles = css.map((name: string) => `/${name}`)

/** Answers requests for which the client's build has no file. */
export default async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/api/forecast') return sendJson(response, 200, await askStations())
  if (pathname === '/api/photos' && request.method === 'POST') {
    return sendJson(response, 201, await readPhoto(request))
  }
  if (pathname.startsWith('/api/')) return sendJson(response, 404, { error: 'no such thing' })
  if (pathname !== '/') {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('Nothing to see here\n')
    return
  }
  streamPage(response)
}

const gauges = new WebSocketServer({ noServer: true })

/** Connects WebSockets to the wind gauge, except those from pages of other sites. */
export function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { origin, host } = request.headers
  const isOurs = origin === undefined || [`http://${host}`, `https://${host}`].includes(origin)
  if (request.url !== '/api/wind' || !isOurs)
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  else gauges.handleUpgrade(request, socket, head, showWind)
}

function showWind(client: WebSocket): void {
  const show = (): void => client.send(JSON.stringify({ place: 'North Pier', knots: 11 }))
  show()
  // It also keeps proxies from closing the connection.
  const timer = setInterval(show, 10_000)
  client.on('close', () => clearInterval(timer))
}

/** Reads a photo as a stream. Returns its size and digest. */
async function readPhoto(request: IncomingMessage): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of request) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

function streamPage(response: ServerResponse): void {
  const app = (
    <StrictMode>
      <App styles={styles} forecast={askStations()} />
    </StrictMode>
  )
  const { pipe, abort } = renderToPipeableStream(app, {
    bootstrapModules: [`/${file}`],
    bootstrapScriptContent: `window.styles=${JSON.stringify(styles)}`,
    onShellReady() {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' })
      pipe(response)
    },
    onShellError(error) {
      response.destroy(error instanceof Error ? error : undefined)
    },
  })
  // The client has closed the connection, so React can stop rendering.
  response.once('close', () => abort())
}

/** Returns the forecast after a delay. */
async function askStations(): Promise<Forecast> {
  await setTimeout(700)
  return { place: 'North Pier', degrees: 18 }
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(JSON.stringify(value))
}
