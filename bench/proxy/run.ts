// Measures the CPU time of a server for each forwarded request: 1 KB of JSON, 64 connections, the servers in turns.
// On Linux, the servers run on core 0, the target and the load on core 1.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { precompress } from '@serve-dist/precompress'
import { createProxyServer } from 'http-proxy-3'
import { Pool } from 'undici'
import { findFreePort } from '../serve/measure/find-free-port.ts'
import { readCpuSeconds } from '../serve/measure/resource-usage.ts'
import { median, percentile } from '../serve/statistics.ts'

const self = fileURLToPath(import.meta.url)
const command = fileURLToPath(import.meta.resolve('@serve-dist/server')).replace(
  /dist\/index\.js$/,
  'bin/serve-dist.js',
)
const connections = 64
const serverCore = 0
const loadCore = 1
const [role, ...given] = process.argv.slice(2)

if (role === 'target') listen(createServer(answerJson))
else if (role === 'bare') listen(createBareProxy(given[0] ?? ''))
else if (role === 'http-proxy-3') listen(createHttpProxy(given[0] ?? ''))
else if (role === 'load')
  console.log(JSON.stringify(await load(Number(given[0]), String(given[1]), Number(given[2]))))
else await measureAll(Number(role ?? 5))

/** Measures each server `rounds` times, and prints the medians. */
async function measureAll(rounds: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-proxy-'))
  const scratch = await mkdtemp(join(tmpdir(), 'bench-proxy-nginx-'))
  await writeFile(join(directory, 'index.html'), '<!doctype html>')
  await precompress(directory)
  const target = await start([process.execPath, self, 'target'], loadCore)
  const url = `http://127.0.0.1:${target.port}`
  const files = [process.execPath, command, directory, '--port=0']
  const proxied = [...files, '--proxy', `/api=${url}`]
  const nginx = await startNginx(scratch, url)
  const servers: Record<string, Running> = {
    bare: await start([process.execPath, self, 'bare', url]),
    'http-proxy-3': await start([process.execPath, self, 'http-proxy-3', url]),
    ...(nginx && { nginx }),
    'serve-dist-node': await start([...proxied, '--engine=node', '--workers=1']),
    'serve-dist-native': await start([...proxied, '--engine=native']),
    'files-without-rule-node': await start([...files, '--engine=node', '--workers=1']),
    'files-without-rule-native': await start([...files, '--engine=native']),
  }
  const figures = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { child, port }] of Object.entries(servers)) {
      const paths = name.startsWith('files') ? ['/'] : name.startsWith('serve') ? ['/api/x', '/'] : ['/api/x']
      for (const path of paths) {
        const before = await readCpuSeconds(child.pid ?? 0)
        const { requests, p99 } = await runLoad(port, path)
        const each = (((await readCpuSeconds(child.pid ?? 0)) - before) * 1e6) / requests
        // The first round warms up.
        if (round === 0) continue
        for (const [what, figure] of [
          ['µs', each],
          ['p99 ms', p99],
        ] as const) {
          const key = `${name} ${path} ${what}`
          figures.set(key, [...(figures.get(key) ?? []), figure])
        }
      }
    }
  }
  for (const [key, all] of figures)
    console.log(`${key}: ${median(all).toFixed(2)} (${all.map((each) => each.toFixed(1)).join(' ')})`)
  for (const { child } of [target, ...Object.values(servers)]) child.kill()
  for (const folder of [directory, scratch]) await rm(folder, { recursive: true })
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
}

/** Starts a process on a core, and waits for the line with its address. */
async function start(words: readonly string[], core = serverCore): Promise<Running> {
  const [file = '', ...args] = [...pin(core), ...words]
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { child, port: Number(/:(\d+)/.exec(String(line).replace(/^.*http:\/\/[^:]*/s, ''))?.[1]) }
}

function pin(core: number): string[] {
  return process.platform === 'linux' ? ['taskset', '-c', String(core)] : []
}

/** Returns nothing if nginx is not installed. */
async function startNginx(directory: string, url: string): Promise<Running | undefined> {
  if (spawnSync('nginx', ['-v']).status !== 0) {
    console.log('nginx is not installed, so it is not measured')
    return undefined
  }
  const port = await findFreePort()
  const file = join(directory, 'nginx.conf')
  await writeFile(
    file,
    `daemon off; master_process off; pid ${directory}/nginx.pid; error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000;
  upstream api { server ${url.replace('http://', '')}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location /api { proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ''; }
  }
}
`,
  )
  const [program, ...args] = [...pin(serverCore), 'nginx', '-p', directory, '-c', file]
  const child = spawn(program, args, { stdio: 'inherit' })
  while (child.exitCode === null) {
    const isUp = await fetch(`http://127.0.0.1:${port}/api`).then(
      () => true,
      () => false,
    )
    if (isUp) return { child, port }
    await setTimeout(50)
  }
  throw new Error(`nginx ended with exit code ${child.exitCode}`)
}

/** A process of its own, so that its time is not counted. */
async function runLoad(port: number, path: string): Promise<{ requests: number; p99: number }> {
  const [file, ...args] = [...pin(loadCore), process.execPath, self, 'load', String(port), path, '2000']
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return JSON.parse(String(line))
}

/** Sends a request on each connection after the answer to the last one. */
async function load(
  port: number,
  path: string,
  milliseconds: number,
): Promise<{ requests: number; p99: number }> {
  const request = Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: example.org\r\nAccept: application/json\r\nUser-Agent: bench\r\nCookie: a=b\r\n\r\n`,
  )
  const times: number[] = []
  const end = performance.now() + milliseconds
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1').setNoDelay()
      let sent = performance.now()
      let missing = -1
      socket.on('data', (chunk) => {
        if (missing === -1) {
          const head = chunk.toString('latin1')
          missing = head.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
        }
        missing -= chunk.length
        if (missing > 0) return
        missing = -1
        const now = performance.now()
        times.push(now - sent)
        sent = now
        if (now < end) socket.write(request)
        else socket.destroy()
      })
      socket.write(request)
      await once(socket, 'close')
    }),
  )
  return { requests: times.length, p99: percentile(times, 0.99) }
}

const body = JSON.stringify({ text: 'x'.repeat(1000) })

function answerJson(_request: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
}

/** The least that a proxy on `node:http` and undici does. */
function createBareProxy(url: string) {
  const pool = new Pool(url)
  return createServer(({ url: path = '', rawHeaders }, response) => {
    const headers = rawHeaders.filter(
      (_text, index) => rawHeaders[index - (index % 2)]?.toLowerCase() !== 'connection',
    )
    pool.dispatch(
      { path, method: 'GET', headers },
      {
        onConnect() {},
        onHeaders(status, raw) {
          const fields = raw.map(String)
          const isKept = (index: number): boolean =>
            !/^(?:connection|keep-alive|date)$/i.test(fields[index - (index % 2)] ?? '')
          response.writeHead(
            status,
            fields.filter((_text, index) => isKept(index)),
          )
          return true
        },
        onData: (chunk) => response.write(chunk),
        onComplete: () => void response.end(),
        onError: () => void response.destroy(),
      },
    )
  })
}

/** The proxy of Vite's development server, with kept connections. */
function createHttpProxy(target: string): Server {
  const proxy = createProxyServer({ target, agent: new Agent({ keepAlive: true }) })
  return createServer((request, response) => {
    proxy.web(request, response)
  })
}

function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
  })
}
