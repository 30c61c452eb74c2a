/** Resolves `undici` from a folder that does not have it. */
const resolveElsewhere = `export const resolve = (name, context, next) =>
  next(name, name === 'undici' ? { ...context, parentURL: 'file:///' } : context)`

const toModule = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`

/** Options of Node for a process in which `undici` is not installed. */
export const withoutUndici: readonly string[] = [
  '--import',
  toModule(`import { register } from 'node:module'
    register(${JSON.stringify(toModule(resolveElsewhere))})`),
]
