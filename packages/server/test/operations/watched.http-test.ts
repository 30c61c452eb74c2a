import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../src/operations/exchange.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { mountApplication } from '../../src/application/mount-application.ts'
import type { NodeHandler } from '../../src/application/node-handler.ts'
import { observeRequests } from '../../src/operations/observe-requests.ts'
import { describeBlackBox } from '../support/black-box.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'

describeBlackBox({
  name: 'serve with a log, metrics and hosts',
  role: 'standalone',
  async start({ directory, memoryBudget }) {
    const flags = `--port 0 --memory-budget ${memoryBudget} --access-log json --ops 127.0.0.1:0`
    const more = '--trust-proxy loopback --allow-host example.org'
    const command = spawnCommand([directory, ...`${flags} ${more}`.split(' ')])
    return (await command.listening).port
  },
})

describeBlackBox({
  name: 'serve with metrics',
  role: 'standalone',
  async start({ directory, memoryBudget }) {
    const operations = { ops: { host: '127.0.0.1', port: 0 } }
    const { port } = await startServer(directory, { operations, site: { memoryBudget } })
    return port
  },
})

const answerInPieces: NodeHandler = (_request, response) => {
  response.writeHead(201, { 'Content-Encoding': 'x-made-up', 'Cache-Control': 'max-age=5' })
  response.write('caf\u00E9', 'latin1')
  response.write(Buffer.from('12345'))
  response.end('c3', 'hex')
}

describe('observeRequests', () => {
  test('returns the listener itself without observers', () => {
    expect(observeRequests(refuse, { observers: [], addressOf: () => '' })).toBe(refuse)
  })

  test('observes the response of an application, with the bytes of its encoded chunks', async () => {
    const seen: Exchange[] = []
    const handle = createHandler(await loadSite(await buildFixture({ 'index.html': 'page' })))
    const application = mountApplication({ handler: answerInPieces }, () => {})
    const port = await startListener(
      observeRequests(
        (request, response) => handle(request, response, () => application(request, response)),
        { observers: [{ end: (exchange) => seen.push(exchange) }], addressOf: () => 'somebody' },
      ),
    )
    await rawRequest(port, { target: '/page' })
    const [{ request, ...exchange } = { request: undefined }] = seen
    expect([seen.length, request?.url, exchange]).toEqual([
      1,
      '/page',
      {
        address: 'somebody',
        status: 201,
        coding: 'x-made-up',
        cache: 'other',
        bytes: 10,
        savedBytes: 0,
        milliseconds: expect.any(Number),
        isAborted: false,
      },
    ])
  })
})

function refuse(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(500).end()
}
