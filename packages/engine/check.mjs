// `pnpm engine`: checks format, lints and tests of the crates if cargo is installed.
import { fileURLToPath } from 'node:url'
import { runCommand } from '../../scripts/run-command.mjs'
import { findCargoProblem } from './find-cargo.mjs'

const reason = await findCargoProblem()
if (reason === undefined) await check()
else {
  console.log(`The native engine was not checked: ${reason}`)
  // GitHub's runners must have cargo, except on Windows, which has no engine. Other machines do not need Rust.
  process.exitCode = process.env['GITHUB_ACTIONS'] !== undefined && process.platform !== 'win32' ? 1 : 77
}

async function check() {
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const clippy = ['clippy', '--locked', '--all-targets', '--', '-D', 'warnings']
  let hasFailed = false
  let isSkipped = false
  for (const [command = '', ...args] of [['fmt', '--check'], clippy, ['test', '--locked']]) {
    // The minimal profile of rustup contains neither rustfmt nor clippy.
    const { exitCode: missing } = await runCommand(['cargo', command, '--help'], { cwd, isQuiet: true })
    if (missing === 0) {
      const { exitCode } = await runCommand(['cargo', command, ...args], { cwd })
      hasFailed ||= exitCode !== 0
    } else {
      console.log(`⚠ SKIPPED: \`cargo ${command}\` is not installed`)
      isSkipped = true
    }
  }
  if (hasFailed || (isSkipped && process.env['CI'] !== undefined)) process.exitCode = 1
  else if (isSkipped) process.exitCode = 77
}
