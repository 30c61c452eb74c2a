import { lstatSync, rmSync } from 'node:fs'

/** Removes the Unix socket of this process if the process ends without closing its server. */
export function removeSocketOnExit(socket: string): void {
  const own = identityOf(socket)
  process.once('exit', (code) => {
    // Another server may have replaced the file.
    if (code !== 0 && identityOf(socket) === own) rmSync(socket, { force: true })
  })
}

function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
