/**
 * The pnpm that runs us, so that a machine without a pnpm of its own (`npx --yes pnpm@12 …`) needs no second.
 *
 * @param {string[]} args
 * @returns {[string, ...string[]]}
 */
export function pnpmCommand(...args) {
  const entry = process.env['npm_execpath'] ?? ''
  if (!/pnpm(\.[a-z]+)?$/.test(entry)) return ['pnpm', ...args]
  // pnpm 12 is a native program; earlier ones are scripts for Node.
  return /\.[cm]?js$/.test(entry) ? [process.execPath, entry, ...args] : [entry, ...args]
}
