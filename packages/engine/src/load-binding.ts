import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { EngineBinding } from './binding.ts'

/** Those that have a package with a binary. */
export const platforms: readonly string[] = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
]

/**
 * Loads the addon: the one that was compiled in this repository, else that of this platform's package.
 *
 * @returns the addon, or one line that says why there is none.
 */
export function loadEngine(): EngineBinding | string {
  const compiled = fileURLToPath(new URL('../dist/engine.node', import.meta.url))
  const platform = platformName()
  const installed = `@serve-dist/engine-${platform}`
  try {
    const addon = existsSync(compiled) ? compiled : installed
    const binding: EngineBinding = createRequire(import.meta.url)(addon)
    return binding
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
    if (isMissing && platforms.includes(platform))
      return `the binary for ${platform} is not installed: npm install ${installed}`
    if (isMissing) return `@serve-dist/engine has no binary for ${platform}`
    const reason = error instanceof Error ? error.message : String(error)
    return `@serve-dist/engine cannot be loaded: ${reason.replace(/\n.*/s, '')}`
  }
}

/** As the packages of binaries are named: `darwin-arm64`, `linux-x64-musl`. */
function platformName(): string {
  const { platform, arch } = process
  return platform === 'linux' ? `linux-${arch}-${isMusl() ? 'musl' : 'gnu'}` : `${platform}-${arch}`
}

/** The C library is mapped into this very process; a report of Node's, which names it as well, takes 10 ms. */
function isMusl(): boolean {
  try {
    return readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
  } catch {
    return false
  }
}
