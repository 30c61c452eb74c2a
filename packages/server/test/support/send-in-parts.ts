import { setImmediate } from 'node:timers/promises'
import type { Connection } from './open-connection.ts'

/** Sends so many kilobytes one by one; a server in this process has its turn between them. */
export async function sendInParts(connection: Connection, kilobytes: number): Promise<void> {
  for (let part = 0; part < kilobytes; part += 1) {
    connection.send('x'.repeat(1000))
    await setImmediate()
  }
}
