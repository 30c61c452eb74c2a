import { loadEngine } from '@serve-dist/engine'

/** What answers requests. */
export type EngineName = 'node' | 'native'

const loaded = loadEngine()
if (typeof loaded === 'string') console.log(`only the Node engine is tested: ${loaded}`)

/** Those that can be had on this machine. */
export const engines: readonly EngineName[] = typeof loaded === 'string' ? ['node'] : ['node', 'native']
