import { findFreePort } from '../../src/transport/find-free-port.ts'

/** Returns a port of 127.0.0.1 that no process listens on. */
export const freePort = (): Promise<number> => findFreePort('127.0.0.1')
