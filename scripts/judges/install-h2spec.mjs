import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../run-command.mjs'

// Later ones were published without the name that Go asks for.
const version = 'v2.2.1+incompatible'
const folder = fileURLToPath(new URL('../../node_modules/.cache/h2spec', import.meta.url))

/**
 * Where h2spec is; `undefined`, with the reason on standard output, where it cannot be had. It is built
 * from its sources, which takes Go.
 *
 * @returns {Promise<string | undefined>}
 */
export async function installH2spec() {
  const go = await runCommand(['go', 'version'], { isQuiet: true })
  if (go.exitCode !== 0) {
    console.log('h2spec is a program in Go, and there is no `go` on this machine')
    return undefined
  }
  await mkdir(folder, { recursive: true })
  const program = `github.com/summerwind/h2spec/cmd/h2spec@${version}`
  const built = await runCommand(['go', 'install', program], {
    environment: { GOBIN: folder },
    isQuiet: true,
    timeLimit: 240_000,
  })
  if (built.exitCode === 0) return join(folder, 'h2spec')
  console.log(`h2spec cannot be built:\n${built.output.trimEnd()}`)
  return undefined
}

/**
 * Writes `cert.pem` and `key.pem` for 127.0.0.1 into a folder, with the program that comes with Go.
 *
 * @param {string} directory
 */
export async function makeCertificateWithGo(directory) {
  const { output } = await runCommand(['go', 'env', 'GOROOT'], { isQuiet: true })
  const program = join(output.trim(), 'src/crypto/tls/generate_cert.go')
  const made = await runCommand(['go', 'run', program, '--host', '127.0.0.1', '--ecdsa-curve', 'P256'], {
    cwd: directory,
    isQuiet: true,
  })
  if (made.exitCode !== 0) throw new Error(`no certificate could be made:\n${made.output}`)
}
