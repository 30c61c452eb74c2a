import { loadEngine } from '../../packages/engine/dist/index.js'

/** What `--engine` says, for each engine that can be judged here; a line says why one cannot. */
export function judgedEngines() {
  const engine = loadEngine()
  if (typeof engine === 'string') console.log(`⚠ The native engine is not judged: ${engine}`)
  return typeof engine === 'string' ? ['node'] : ['node', 'native']
}
