import { expect } from 'vitest'
import { openConnection } from './open-connection.ts'
import { formatRequest } from './raw-request.ts'
import type { RunningCommand } from './spawn-command.ts'

/** Ends a command by SIGTERM; its exit code. */
export async function stopCommand({ child, exited }: RunningCommand): Promise<number | null> {
  child.kill('SIGTERM')
  const { code } = await exited
  return code
}

/** Ends a command by SIGTERM, which must exit with 0. Resolves to what it said on standard error. */
export async function endCommand({ child, exited }: RunningCommand): Promise<string> {
  child.kill('SIGTERM')
  const { code, stderr } = await exited
  expect(code).toBe(0)
  return stderr
}

/** Tells a command to stop once 60 clients have connected, which ask only then: their status, and the bytes behind their answer. */
export async function requestWhileStopping({ child }: RunningCommand, port: number): Promise<number[][]> {
  const connections = await Promise.all(Array.from({ length: 60 }, () => openConnection(port)))
  child.kill('SIGTERM')
  return await Promise.all(
    connections.map(async (connection) => {
      connection.send(formatRequest({ target: '/' }))
      const { status } = await connection.receive()
      return [status, (await connection.rest()).length]
    }),
  )
}
