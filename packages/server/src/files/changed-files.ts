import { type Channel, channel } from 'node:diagnostics_channel'

/**
 * A channel of this process for files that were changed or deleted before they could be sent. It connects
 * hosts with the folder watcher, which do not know each other.
 */
export const changedFiles: Channel = channel('serve-dist:changed-file')
