/**
 * Returns a command with the pnpm that runs this process, because `npx --yes pnpm@12 …` installs no `pnpm` in the PATH.
 *
 * @param {string[]} args
 * @returns {[string, ...string[]]}
 */
export function pnpmCommand(...args) {
  const entry = process.env['npm_execpath'] ?? ''
  if (!/pnpm(\.[a-z]+)?$/.test(entry)) return ['pnpm', ...args]
  // pnpm 12 is a native program. Earlier versions are scripts for Node.
  return /\.[cm]?js$/.test(entry) ? [process.execPath, entry, ...args] : [entry, ...args]
}
