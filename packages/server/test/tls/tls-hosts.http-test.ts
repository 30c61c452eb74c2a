import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { type BlackBoxHost, type BlackBoxSite, describeBlackBox } from '../support/black-box.ts'
import { dialTls } from '../support/dial-tls.ts'
import { http2Request } from '../support/http2-request.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startTlsServer } from '../support/start-tls-server.ts'
import { isNative } from '../support/tested-engine.ts'

let handled = 0

async function start({ directory, memoryBudget }: BlackBoxSite): Promise<number> {
  const site = await loadSite(directory, { memoryBudget })
  const handle = createHandler(site)
  const { port } = await startTlsServer(
    (request, response) => {
      handled += 1
      handle(request, response)
    },
    {},
    site,
  )
  return port
}

const countHandled = isNative ? { countHandled: () => handled } : {}

const hosts: readonly BlackBoxHost[] = [
  {
    name: 'HTTP/1.1 over TLS',
    role: 'standalone',
    ...countHandled,
    start,
    ask: (port, request) => rawRequest(port, request, dialTls),
  },
  { name: 'HTTP/2', role: 'standalone', ...countHandled, start, ask: http2Request },
]

for (const host of hosts) describeBlackBox(host)
