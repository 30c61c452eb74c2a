/** A named pipe of Windows is no path of a file. */
const limits: Readonly<Record<string, number>> = { darwin: 103, win32: Number.POSITIVE_INFINITY }

/** Bytes of a unix socket's path: libuv of Node 20 cuts a longer one off, and listens there. */
export const longestSocketPath: number = limits[process.platform] ?? 107
