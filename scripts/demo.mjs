// `npx --yes pnpm@12 demo`: serves a build from a fresh clone, on a machine with only Node and npm.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const example = fileURLToPath(new URL('../examples/spa', import.meta.url))

await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: root,
  fix: 'Check that this machine reaches its npm registry (`npm ping`). If the lockfile is outdated, run `npx --yes pnpm@12 install`.',
})
await runStep('Building the packages', pnpmCommand('run', 'build'), {
  cwd: root,
  fix: 'Fix the errors above. An unchanged main (`git status`) builds without errors. If `cargo` fails, remove it from PATH: the native engine is optional.',
})
await runStep('Building examples/spa, every file compressed three ways', pnpmCommand('run', 'build'), {
  cwd: example,
  fix: 'The output of `vite build` above names the file.',
})
console.log('▸ Serving examples/spa/dist with `serve-dist` (Ctrl-C stops it)')

// Not the shim in node_modules/.bin: it is a shell script, which does not pass signals to the server.
const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const isWindows = process.platform === 'win32'
// In its own process group, so that Ctrl-C reaches it once, from here, even if a parent process also passes it on.
const server = spawn(process.execPath, [bin], { cwd: example, stdio: 'inherit', detached: !isWindows })

let isStopping = false
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    if (!isStopping && !isWindows) server.kill('SIGTERM')
    isStopping = true
  })
}
server.on('exit', (code) => {
  if (code === 0 || isStopping) process.exit(code ?? 0)
  console.error(
    `✗ serve-dist ended with exit code ${code}. If the port is in use: PORT=8080 npx --yes pnpm@12 demo`,
  )
  process.exit(code ?? 1)
})
