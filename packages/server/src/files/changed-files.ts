import { type Channel, channel } from 'node:diagnostics_channel'

/**
 * Tells within this process that a file which was to be sent is gone or another one: whoever watches the folder looks at
 * it then. Hosts and the watch know nothing of each other.
 */
export const changedFiles: Channel = channel('serve-dist:changed-file')
