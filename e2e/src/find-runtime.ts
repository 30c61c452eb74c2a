import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const examples = fileURLToPath(new URL('../../examples', import.meta.url))
const { platform, arch } = process
const binaries = {
  bun: `@oven/bun-${platform}-${arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`,
  deno: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}/deno`,
}

/** Returns the path of the binary in an example's package. Its own command requires an install script. */
export function findRuntime(name: keyof typeof binaries): string | undefined {
  try {
    const ofExample = createRequire(path.join(examples, name, 'package.json'))
    return createRequire(ofExample.resolve(`${name}/package.json`)).resolve(binaries[name])
  } catch {
    return undefined
  }
}
