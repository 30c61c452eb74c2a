// A server whose workers share a port in one of three ways; its arguments are the way and the number of workers.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { performance } from 'node:perf_hooks'

/** What a page costs that blocks the event loop, in milliseconds. */
const cost = 200

const [, , way = 'none', count = '2'] = process.argv
const body = Buffer.alloc(1024, 'a')

if (cluster.isPrimary) startWorkers()
else serve()

function startWorkers(): void {
  cluster.schedulingPolicy = way === 'rr' ? cluster.SCHED_RR : cluster.SCHED_NONE
  // Sockets of their own have to be given the port that the first one finds; a shared one is known by its 0.
  let port = '0'
  const launch = (): void => void cluster.fork({ SHARING_PORT: port })
  let listening = 0
  // Not the event `listening`: there is none for a socket that a worker opens by itself.
  cluster.on('message', (_worker, found: number) => {
    listening += 1
    if (way === 'reuseport') port = String(found)
    if (listening < Number(count)) launch()
    else process.stdout.write(`${found}\n`)
  })
  process.once('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
    process.exit()
  })
  launch()
}

function serve(): void {
  const server = createServer((request, response) => {
    if (request.url === '/block') {
      const end = performance.now() + cost
      while (performance.now() < end);
    }
    response.writeHead(200, { 'Content-Length': body.length, 'X-Worker': process.pid }).end(body)
  })
  const place = { port: Number(process.env['SHARING_PORT']), host: '127.0.0.1' }
  server.listen({ ...place, ...(way === 'reuseport' && { reusePort: true }) }, () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.(address?.port)
  })
}
