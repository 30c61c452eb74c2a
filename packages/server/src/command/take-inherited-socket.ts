import { OperatorError } from '@serve-dist/manifest'

/** The first descriptor of the sockets that systemd passes on (sd_listen_fds(3)). */
const firstDescriptor = 3

/**
 * Takes the socket that a service manager passed to this process (sd_listen_fds(3)). It deletes the variables, so that no
 * child process uses the socket.
 *
 * @returns the descriptor of the socket, if there is one.
 * @throws OperatorError if there are several sockets.
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
    `LISTEN_FDS: expected one socket, found ${count}. Use a socket unit with one ListenStream=`,
  )
}
