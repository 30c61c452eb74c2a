// The work that every start needs: lists a folder, opens and reads each file, in one thread like the server. Then it prints a
// line like the server's. Without a folder, it only prints the line.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'

const bytes = Buffer.allocUnsafe(1024 * 1024)
const [folder] = process.argv.slice(2)
if (folder !== undefined) readAll(folder)
process.stdout.write('read: http://127.0.0.1\n')
// Waits until it is killed.
setInterval(() => {}, 60_000)

function readAll(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) readAll(path)
    else readWhole(path)
  }
}

function readWhole(path: string): void {
  const descriptor = openSync(path, 'r')
  while (readSync(descriptor, bytes, 0, bytes.length, null) === bytes.length);
  closeSync(descriptor)
}
