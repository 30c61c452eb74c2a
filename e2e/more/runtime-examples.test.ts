import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { answersOfHostExample, askHostExample } from '../src/ask-host-example.ts'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const { platform, arch } = process
const bunTarget = `${platform}-${arch === 'arm64' ? 'aarch64' : 'x64'}`
const denoTarget = `${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`
const permissions = ['--allow-net', '--allow-read', '--allow-env', '--allow-sys=cpus']

/** How each example is started: by the binary in its package. */
const runtimes: readonly (readonly [string, string | undefined, readonly string[]])[] = [
  ['bun', findBinary('bun', `@oven/bun-${bunTarget}/bin/bun`), ['server.js']],
  ['deno', findBinary('deno', `@deno/${denoTarget}/deno`), ['run', ...permissions, 'server.js']],
]

describe.each(runtimes)('examples/%s', (name, program, args) => {
  test.skipIf(program === undefined && process.env['CI'] === undefined)(
    'serves its build, and its API beside it',
    async () => {
      expect(await askHostExample(name, program ?? name, args)).toEqual(answersOfHostExample)
    },
  )
})

/** The binary of a package that an example has installed; its own command would need an install script. */
function findBinary(name: string, binary: string): string | undefined {
  try {
    const ofExample = createRequire(path.join(examples, name, 'package.json'))
    return createRequire(ofExample.resolve(`${name}/package.json`)).resolve(binary)
  } catch {
    return undefined
  }
}
