import { lstatSync, rmSync } from 'node:fs'

/** Removes a unix socket that this process has made, where the process ends without closing its server, which does it. */
export function removeSocketOnExit(socket: string): void {
  const own = identityOf(socket)
  process.once('exit', (code) => {
    // Another server may have made its own there meanwhile.
    if (code !== 0 && identityOf(socket) === own) rmSync(socket, { force: true })
  })
}

function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
