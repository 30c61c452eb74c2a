import { expect } from 'vitest'
import { openConnection } from './open-connection.ts'
import { formatRequest } from './raw-request.ts'
import type { RunningCommand } from './spawn-command.ts'

/** Stops a command with SIGTERM. Returns its exit code. */
export async function stopCommand({ child, exited }: RunningCommand): Promise<number | null> {
  child.kill('SIGTERM')
  const { code } = await exited
  return code
}

/** Stops a command with SIGTERM, and expects exit code 0. Returns its standard error. */
export async function endCommand({ child, exited }: RunningCommand): Promise<string> {
  child.kill('SIGTERM')
  const { code, stderr } = await exited
  expect(code).toBe(0)
  return stderr
}

/**
 * Stops a command after 60 clients have connected. They send their requests after the signal. Returns each
 * status and the bytes after the response.
 */
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
