import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { EngineBinding } from './binding.ts'

/** The platforms that have a package with a binary. */
export const platforms: readonly string[] = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
]

/**
 * Loads the addon that was compiled in this repository, or the one from the package for this platform.
 *
 * @returns the addon, or one line with the reason why it is not available.
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

/** Returns the platform as in the names of packages: `darwin-arm64`, `linux-x64-musl`. */
function platformName(): string {
  const { platform, arch } = process
  return platform === 'linux' ? `linux-${arch}-${isMusl() ? 'musl' : 'gnu'}` : `${platform}-${arch}`
}

/** Finds musl among the mapped libraries. `process.report` also names the C library, but takes 10 ms. */
function isMusl(): boolean {
  try {
    return readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
  } catch {
    return false
  }
}
