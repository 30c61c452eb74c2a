import { readFileSync, writeFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'

const settings = '/proc/sys/net/ipv4'

/** Reads the name of the system's TCP congestion control, like `cubic` or `bbr`. */
export function readCongestionControl(): string {
  return readSetting('tcp_congestion_control')
}

/**
 * Sets the system's TCP congestion control until this process exits.
 *
 * @throws InvalidArgumentError if this process is not root, or if the system has no such congestion control.
 */
export function setCongestionControl(name: string): void {
  const file = `${settings}/tcp_congestion_control`
  const before = readCongestionControl()
  try {
    writeFileSync(file, name)
  } catch (error) {
    const available = readSetting('tcp_available_congestion_control')
    throw new InvalidArgumentError(
      `${String(error)}. Run as root, outside of containers, with one of: ${available}.`,
    )
  }
  process.once('exit', () => writeFileSync(file, before))
}

function readSetting(name: string): string {
  return readFileSync(`${settings}/${name}`, 'utf8').trim()
}
