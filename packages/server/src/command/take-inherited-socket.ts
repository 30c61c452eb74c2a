import { OperatorError } from '@serve-dist/manifest'

/** systemd passes sockets from this descriptor on (sd_listen_fds(3)). */
const firstDescriptor = 3

/**
 * Takes the socket that a service manager passed to this very process (sd_listen_fds(3)), and unsets the variables, so
 * that no child process takes it for its own.
 *
 * @returns its descriptor, if a socket was passed.
 * @throws OperatorError when there are several.
 */
export function takeInheritedSocket(
  environment: NodeJS.ProcessEnv = process.env,
  processId: number = process.pid,
): number | undefined {
  const { LISTEN_PID: recipient, LISTEN_FDS: count } = environment
  if (recipient !== String(processId)) return undefined
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete environment[name]
  if (count === undefined || count === '0') return undefined
  if (count === '1') return firstDescriptor
  throw new OperatorError(
    'SD_LISTEN_FAILED',
    `LISTEN_FDS: expected one socket, found ${count}; give the service a socket unit with one ListenStream=`,
  )
}
