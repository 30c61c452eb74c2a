// `pnpm engine`: what is checked of the crates, where there is a cargo.
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'
import { whyNoCargo } from './find-cargo.mjs'

const reason = await whyNoCargo()
if (reason === undefined) await check()
else {
  console.log(`The native engine is not checked: ${reason}`)
  // The runners of GitHub have a cargo, and Windows has no engine. Others need no Rust, in their CI neither.
  process.exitCode = process.env['GITHUB_ACTIONS'] !== undefined && process.platform !== 'win32' ? 1 : 77
}

async function check() {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const clippy = ['clippy', '--locked', '--all-targets', '--', '-D', 'warnings']
  let hasFailed = false
  let isSkipped = false
  for (const [command = '', ...args] of [['fmt', '--check'], clippy, ['test', '--locked']]) {
    // rustup's minimal profile has neither rustfmt nor clippy.
    const { exitCode: missing } = await runCommand(['cargo', command, '--help'], { cwd, isQuiet: true })
    if (missing === 0) {
      const { exitCode } = await runCommand(['cargo', command, ...args], { cwd })
      hasFailed ||= exitCode !== 0
    } else {
      console.log(`⚠ SKIPPED: there is no \`cargo ${command}\` here`)
      isSkipped = true
    }
  }
  if (hasFailed || (isSkipped && process.env['CI'] !== undefined)) process.exitCode = 1
  else if (isSkipped) process.exitCode = 77
}
