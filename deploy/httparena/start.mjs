// The listeners of HttpArena: HTTP/1.1 on the first port, TLS on the others, each a command of its own.
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'

const { DATA = '/data', CERTS = '/certs', PORTS = '8080,8081,8443' } = process.env
const tls = ['--tls-cert', join(CERTS, 'server.crt'), '--tls-key', join(CERTS, 'server.key')]
// The folder is no build of ours: it has no manifest, and its variants are taken for what they decode to.
const flags = ['--force', '--host', '0.0.0.0', '--workers', 'auto']

const servers = PORTS.split(',').map((port, index) =>
  spawn('serve-dist', [DATA, ...flags, '--port', port, ...(index === 0 ? [] : tls)], { stdio: 'inherit' }),
)

function signalAll(signal) {
  for (const server of servers) server.kill(signal)
}

for (const server of servers) {
  server.once('exit', (code) => {
    process.exitCode ??= code ?? 1
    watcher.close()
    signalAll('SIGTERM')
  })
}
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => signalAll(signal))

// A replaced file is served within a second: the rules want what is cached to follow the disk.
let settling
const watcher = watch(join(DATA, 'static'), () => {
  clearTimeout(settling)
  settling = setTimeout(() => signalAll('SIGHUP'), 200)
})
