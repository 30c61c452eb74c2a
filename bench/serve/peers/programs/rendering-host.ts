// One process that renders pages and serves static files, as SSR applications do. Its argument names who
// serves the files.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createHandler, loadSite } from '@serve-dist/server'
import express from 'express'
import sirv from 'sirv'
import { readPeerInput } from './peer-input.ts'
import { renderPage } from './render-page.ts'

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

const middlewares: Readonly<Record<string, (directory: string) => Middleware | Promise<Middleware>>> = {
  'serve-dist': async (directory) => createHandler(await loadSite(directory)),
  sirv: (directory) => sirv(directory, { etag: true, gzip: true, brotli: true }),
  express: (directory) => express().use(express.static(directory, { maxAge: '1y', immutable: true })),
}

const { directory, port } = readPeerInput()
const make = middlewares[process.argv[2] ?? '']
if (make === undefined) throw new TypeError(`the argument is one of ${Object.keys(middlewares).join(', ')}`)
const serveStatic = await make(directory)

createServer((request, response) => {
  if (request.url === '/rendered') {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
    response.end(renderPage())
    return
  }
  serveStatic(request, response, () => {
    response.statusCode = 404
    response.end()
  })
}).listen(port, '127.0.0.1')
