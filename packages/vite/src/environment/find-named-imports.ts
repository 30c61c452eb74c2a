import { environmentImport } from './environment-import.ts'
import { textOf } from './worker-starts.ts'

/** The names by which a module imports or passes on values of the environment, which has a default export alone. */
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

/** Of an `ImportSpecifier` or an `ExportSpecifier`; none where the default, or all, is taken without a name. */
function importedName(specifier: unknown): string[] {
  const { type, imported, local } = Object(specifier)
  const node: unknown = type === 'ExportSpecifier' ? local : imported
  const name: unknown = Object(node).name ?? Object(node).value
  return typeof name === 'string' ? [name] : []
}
