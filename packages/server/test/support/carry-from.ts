import { carry, type CarryOptions, type CarrySummary } from '../../src/carry/carry.ts'

/** Carries the files of a site on a port of this machine into a build. */
export async function carryFrom(
  port: number,
  directory: string,
  options: Partial<CarryOptions> = {},
): Promise<CarrySummary | undefined> {
  const address = new URL(`http://127.0.0.1:${port}`)
  const { signal } = new AbortController()
  const given = { address, fields: {}, retention: {}, signal, makesDeltas: false }
  return await carry(directory, { ...given, onProgress() {}, onDelta() {}, onWarning() {}, ...options })
}
