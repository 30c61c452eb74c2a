/** Bytes of a unix socket's path: libuv of Node 20 cuts a longer one off, and listens there. */
export const longestSocketPath: number = process.platform === 'darwin' ? 103 : 107
