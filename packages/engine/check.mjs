// `pnpm engine`: what is checked of the crates, where there is a cargo.
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'
import { whyNoCargo } from './find-cargo.mjs'

const reason = await whyNoCargo()
if (reason === undefined) await check()
else {
  console.log(`The native engine is not checked: ${reason}`)
  process.exitCode = 77
}

async function check() {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const clippy = ['clippy', '--locked', '--all-targets', '--', '-D', 'warnings']
  for (const args of [['fmt', '--check'], clippy, ['test', '--locked']]) {
    const { exitCode } = await runCommand(['cargo', ...args], { cwd })
    if (exitCode !== 0) process.exitCode = 1
  }
}
