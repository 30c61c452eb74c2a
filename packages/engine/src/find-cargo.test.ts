import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../../scripts/run-command.mjs'

let folder: string

/** `PATH` only contains these programs. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-dist-cargo-'))
  await program(
    'cargo',
    `case $1 in -vV) printf 'release: 9.0.0\\nhost: x86_64-unknown-linux-gnu\\n' ;; esac`,
  )
  await program('cc', '')
})

afterEach(async () => await rm(folder, { recursive: true }))

describe.skipIf(process.platform === 'win32')('findCargoProblem', () => {
  test('returns undefined if cargo, a C compiler and the crates are available', async () => {
    expect(await reason()).toBe('undefined')
  })

  test('reports a missing or old cargo', async () => {
    await program('cargo', `printf 'release: 1.87.9\\nhost: x86_64-unknown-linux-gnu\\n'`)
    expect(await reason()).toMatch(/^cargo 1\.87\.9 is older than 1\.\d+$/)
    await rm(join(folder, 'cargo'))
    expect(await reason()).toMatch(/^cargo is not installed \(Rust 1\.\d+ or newer\)$/)
  })

  test('reports crates that cannot be downloaded', async () => {
    await program(
      'cargo',
      `case $1 in
        -vV) printf 'release: 9.0.0\\nhost: x86_64-unknown-linux-gnu\\n' ;;
        fetch) echo 'error: failed to download' >&2; exit 101 ;;
      esac`,
    )
    expect(await reason()).toBe('cargo cannot download the crates')
  })

  test('reports a missing or broken C compiler', async () => {
    await program('cc', 'echo "ld: cannot find crti.o"; exit 1')
    expect(await reason()).toBe('the C compiler does not work (cc)')
    await rm(join(folder, 'cc'))
    expect(await reason()).toBe('the C compiler does not work (cc)')
  })

  test('uses the compiler and the linker of the environment', async () => {
    expect(await reason({ CC: 'ccache clang' })).toBe('the C compiler does not work (ccache clang)')
    await program('ccache', 'test "$1" = clang')
    expect(await reason({ CC: 'ccache clang' })).toBe('undefined')
    await rm(join(folder, 'cc'))
    expect(await reason({ CC: 'ccache clang' })).toBe('the C compiler does not work (cc)')
    const linker = { CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER: 'clang' }
    expect(await reason({ CC: 'ccache clang', ...linker })).toBe('undefined')
  })
})

describe.skipIf(process.platform === 'win32')('pnpm engine', () => {
  test('reports missing components of cargo, and fails in CI', async () => {
    expect(await check()).toEqual({ exitCode: 0, output: '' })
    await program(
      'cargo',
      `case $1 in
        -vV) printf 'release: 9.0.0\\nhost: x86_64-unknown-linux-gnu\\n' ;;
        clippy) echo 'error: no such command: clippy' >&2; exit 101 ;;
        test) echo tested ;;
      esac`,
    )
    const output = '⚠ SKIPPED: `cargo clippy` is not installed\ntested\n'
    expect(await check()).toEqual({ exitCode: 77, output })
    expect(await check({ CI: 'true' })).toEqual({ exitCode: 1, output })
  })
})

async function reason(environment: Record<string, string> = {}) {
  const url = new URL('../find-cargo.mjs', import.meta.url).href
  const script = `import { findCargoProblem } from '${url}'; console.log(await findCargoProblem())`
  const { output } = await node(['--input-type=module', '--eval', script], environment)
  return output.trimEnd()
}

async function check(environment: Record<string, string> = {}) {
  return await node([fileURLToPath(new URL('../check.mjs', import.meta.url))], environment)
}

async function node(args: string[], environment: Record<string, string>) {
  const before = { CC: undefined, CI: undefined, PATH: folder }
  return await runCommand([process.execPath, ...args], {
    environment: { ...before, ...environment },
    isQuiet: true,
  })
}

async function program(name: string, script: string) {
  const file = join(folder, name)
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
}
