import { environmentImport } from './environment-import.ts'
import { textOf } from './worker-starts.ts'

/**
 * Returns the names of values that a module imports or re-exports from the environment, which has only a default
 * export.
 */
export function findNamedImports(program: unknown): string[] {
  const { body }: { readonly body?: unknown } = Object(program)
  const statements: readonly unknown[] = Array.isArray(body) ? body : []
  return statements.map(Object).flatMap(({ source, specifiers = [] }) =>
    textOf(source) === environmentImport
      ? Array.from<unknown>(specifiers)
          .flatMap(importedName)
          .filter((name) => name !== 'default')
      : [],
  )
}

/** Returns the imported name of a specifier. Empty for default and namespace imports. */
function importedName(specifier: unknown): string[] {
  const { type, imported, local } = Object(specifier)
  const node: unknown = type === 'ExportSpecifier' ? local : imported
  const name: unknown = Object(node).name ?? Object(node).value
  return typeof name === 'string' ? [name] : []
}
