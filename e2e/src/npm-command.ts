import { existsSync } from 'node:fs'
import path from 'node:path'

/** The npm that came with this Node, run by this Node: Windows starts no `npm.cmd` without a shell. */
export function npmCommand(...args: readonly string[]): [string, ...string[]] {
  return nodeTool('npm', args)
}

/** The npx that came with this Node. */
export function npxCommand(...args: readonly string[]): [string, ...string[]] {
  return nodeTool('npx', args)
}

function nodeTool(program: 'npm' | 'npx', args: readonly string[]): [string, ...string[]] {
  const folder = path.dirname(process.execPath)
  const places = ['node_modules', '../lib/node_modules']
  const cli = places
    .map((place) => path.join(folder, place, `npm/bin/${program}-cli.js`))
    .find((file) => existsSync(file))
  return cli === undefined ? [program, ...args] : [process.execPath, cli, ...args]
}
