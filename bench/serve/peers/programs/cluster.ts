// Runs the program of its argument in several processes that share a port.
import cluster from 'node:cluster'
import { readPeerInput } from './peer-input.ts'

const [, , program] = process.argv
if (program === undefined) throw new TypeError('the program to run is the first argument')

cluster.setupPrimary({ exec: program })
for (let index = 0; index < readPeerInput().workers; index += 1) cluster.fork()
process.once('SIGTERM', () => process.exit())
