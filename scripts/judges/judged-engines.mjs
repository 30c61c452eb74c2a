import { loadEngine } from '../../packages/engine/dist/index.js'

/** Returns the values of `--engine` for the engines of this machine. If the native engine is missing, prints the reason. */
export function judgedEngines() {
  const engine = loadEngine()
  if (typeof engine === 'string') console.log(`⚠ The native engine is not tested: ${engine}`)
  return typeof engine === 'string' ? ['node'] : ['node', 'native']
}
