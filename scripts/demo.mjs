// `npx --yes pnpm@12 demo`: from a fresh clone to a served build, on a machine with only Node and npm.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pnpmCommand } from './pnpm-command.mjs'
import { runStep } from './run-step.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const example = fileURLToPath(new URL('../examples/spa', import.meta.url))

await runStep('Installing the dependencies', pnpmCommand('install', '--frozen-lockfile'), {
  cwd: root,
  fix: 'Check that this machine reaches its npm registry (`npm ping`); a lockfile that is behind is mended by `npx --yes pnpm@12 install`.',
})
await runStep('Building the packages', pnpmCommand('run', 'build'), {
  cwd: root,
  fix: 'Mend the errors above; main, unchanged (`git status`), has none. Where it is `cargo` that fails, take it out of PATH: the native engine is optional.',
})
await runStep('Building examples/spa, every file compressed three ways', pnpmCommand('run', 'build'), {
  cwd: example,
  fix: 'The output of `vite build` above names the file.',
})
console.log('▸ Serving examples/spa/dist with `serve-dist` (Ctrl-C stops it)')

// The bin itself and not its shim in node_modules/.bin, which is a shell script that would stand between
// the signals and the server.
const bin = fileURLToPath(new URL('../packages/server/bin/serve-dist.js', import.meta.url))
const isWindows = process.platform === 'win32'
// In a group of its own: a Ctrl-C then reaches it once, from here, whoever else in front of us passes it on.
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
    `✗ serve-dist ended with exit code ${code}. A port that is taken: PORT=8080 npx --yes pnpm@12 demo`,
  )
  process.exit(code ?? 1)
})
