import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns a command that runs this Node's npm with this Node, because Windows starts no `npm.cmd` without a shell.
 *
 * @param {string[]} args
 */
export function npmCommand(...args) {
  return nodeTool('npm', args)
}

/**
 * Returns a command that runs this Node's npx.
 *
 * @param {string[]} args
 */
export function npxCommand(...args) {
  return nodeTool('npx', args)
}

/**
 * @param {'npm' | 'npx'} program
 * @param {readonly string[]} args
 * @returns {[string, ...string[]]}
 */
function nodeTool(program, args) {
  const folder = dirname(process.execPath)
  const cli = ['node_modules', '../lib/node_modules']
    .map((place) => join(folder, place, `npm/bin/${program}-cli.js`))
    .find((file) => existsSync(file))
  return cli === undefined ? [program, ...args] : [process.execPath, cli, ...args]
}
