import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { type BlackBoxHost, type BlackBoxSite, describeBlackBox } from '../support/black-box.ts'
import { dialTls } from '../support/dial-tls.ts'
import { http2Request } from '../support/http2-request.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startTlsServer } from '../support/start-tls-server.ts'

async function start({ directory, memoryBudget }: BlackBoxSite): Promise<number> {
  const handle = createHandler(await loadSite(directory, { memoryBudget }))
  const { port } = await startTlsServer((request, response) => handle(request, response))
  return port
}

const hosts: readonly BlackBoxHost[] = [
  {
    name: 'HTTP/1.1 over TLS',
    role: 'standalone',
    start,
    ask: (port, request) => rawRequest(port, request, dialTls),
  },
  { name: 'HTTP/2', role: 'standalone', start, ask: http2Request },
]

for (const host of hosts) describeBlackBox(host)
