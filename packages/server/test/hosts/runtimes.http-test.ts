import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { describeBlackBox } from '../support/black-box.ts'
import { startServerProcess } from '../support/start-server-process.ts'

const runtimes = [
  {
    name: 'Bun',
    program: findProgram(
      'bun',
      `@oven/bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`,
    ),
    args: ['run'],
    host: 'bun-host.mjs',
    isChunking: true,
    isTimelessOnHead: true,
  },
  {
    name: 'Deno',
    program: findProgram('deno', `@deno/${denoTarget()}/deno`),
    args: ['run', '--allow-all', '--quiet'],
    host: 'deno-host.mjs',
  },
]

/** The tests need the binaries. In `CI`, a missing binary is a failure. */
const installed = runtimes.filter(({ program }) => program !== undefined)
describe('the runtimes that are not Node', () => {
  test.skipIf(installed.length < runtimes.length && process.env['CI'] === undefined)(
    'are installed in CI',
    () => {
      expect(installed).toEqual(runtimes)
    },
  )
})

for (const { name, program = '', args, host, ...differences } of installed) {
  const script = fileURLToPath(new URL(`../support/${host}`, import.meta.url))
  describeBlackBox({
    name,
    role: 'middleware',
    ...differences,
    start: ({ directory, memoryBudget }) =>
      startServerProcess(program, [...args, script, directory, String(memoryBudget)]),
  })
}

/** Returns the path of the package's binary. Its own command requires an install script. */
function findProgram(name: string, binary: string): string | undefined {
  try {
    return createRequire(createRequire(import.meta.url).resolve(`${name}/package.json`)).resolve(binary)
  } catch {
    return undefined
  }
}

function denoTarget(): string {
  const { platform, arch } = process
  const suffix = platform === 'linux' ? '-glibc' : ''
  return `${platform}-${arch}${suffix}`
}
