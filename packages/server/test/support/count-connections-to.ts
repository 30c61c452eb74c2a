import { readdir, readFile, readlink } from 'node:fs/promises'

/** Returns the number of sockets of a process that are connected to a local port. Linux only. */
export async function countConnectionsTo(port: number, processId: number): Promise<number> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  const connected = new Set(
    rows.flatMap(([, , remote = '', state, , , , , , inode]) =>
      remote.endsWith(ending) && state === '01' ? [`socket:[${inode}]`] : [],
    ),
  )
  const folder = `/proc/${processId}/fd`
  const links = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ''))
  return (await Promise.all(links)).filter((link) => connected.has(link)).length
}
