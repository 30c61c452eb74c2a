import { createContext, runInContext } from 'node:vm'

/** What an application gets of the module of its environment, as plain data. */
export function readValues(module: string): unknown {
  const context = createContext({})
  const script = module.replace(/^export default /, 'globalThis.result = ')
  return JSON.parse(String(runInContext(`${script}; JSON.stringify(globalThis.result)`, context)))
}
