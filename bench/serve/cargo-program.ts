import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from './run-process.ts'

const root = join(homedir(), '.cache/serve-dist-bench')

/** Versions that runs are compared by. */
const versions = { 'static-web-server': '2.44.1', oha: '1.16.0' } as const

/** Where `installCargoProgram` puts a program. */
export function cargoProgram(name: keyof typeof versions): string {
  return join(root, 'bin', name)
}

/** How to install it by hand. */
export function cargoInstall(name: keyof typeof versions): string {
  return `cargo install --locked --root ~/.cache/serve-dist-bench ${name}@${versions[name]}`
}

/** Compiles it where it is not there yet, which takes minutes; without cargo, it stays missing. */
export async function installCargoProgram(name: keyof typeof versions): Promise<void> {
  if (existsSync(cargoProgram(name))) return
  await runProcess('cargo', ['install', '--locked', '--root', root, `${name}@${versions[name]}`]).catch(
    (error: unknown) => process.stderr.write(`${name} cannot be installed: ${String(error).slice(0, 400)}\n`),
  )
}
