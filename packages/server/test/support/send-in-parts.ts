import { setImmediate } from 'node:timers/promises'
import type { Connection } from './open-connection.ts'

/** Sends kilobytes one by one. A server in this process runs between them. */
export async function sendInParts(connection: Connection, kilobytes: number): Promise<void> {
  for (let part = 0; part < kilobytes; part += 1) {
    connection.send('x'.repeat(1000))
    await setImmediate()
  }
}
