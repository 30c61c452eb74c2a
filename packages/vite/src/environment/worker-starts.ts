/** A place in a module that starts a worker from a file, in the form that Vite recognizes. */
export interface WorkerStart {
  /** The URL in the code, such as `./worker.ts`. */
  readonly url: string
  /** `undefined` if the value is only known at run time. */
  readonly isModule: boolean | undefined
  /** Position in the code. */
  readonly offset: number
}

/** Finds each `new Worker(new URL('…', import.meta.url), …)` and `new SharedWorker(…)` in a module's syntax tree. */
export function findWorkerStarts(program: unknown): WorkerStart[] {
  const starts: WorkerStart[] = []
  walk(program, (node) => {
    const start = readStart(node)
    if (start !== undefined) starts.push(start)
  })
  return starts
}

/** An ESTree node from the parser of Rollup or Rolldown. */
export type SyntaxNode = Readonly<Record<string, unknown>> & { readonly type: string }

/** Calls `visit` for each node in code order. */
export function walk(value: unknown, visit: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, visit)
  if (!isNode(value)) return
  visit(value)
  for (const child of Object.values(value)) if (typeof child === 'object') walk(child, visit)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Returns the text of a string literal, or of a template without expressions. */
export function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return undefined
  const quasis: unknown[] = node['quasis']
  const value: unknown = quasis.length === 1 ? Object(quasis[0]).value?.cooked : undefined
  return typeof value === 'string' ? value : undefined
}

function readStart(node: SyntaxNode): WorkerStart | undefined {
  if (!isCallOf(node, ['Worker', 'SharedWorker'])) return undefined
  const [url, options] = argumentsOf(node)
  if (!isNode(url) || !isCallOf(url, ['URL'])) return undefined
  const [path, base] = argumentsOf(url)
  const text = textOf(path)
  if (text === undefined || !isNode(base) || base.type !== 'MemberExpression') return undefined
  if (!isNode(base['object']) || base['object'].type !== 'MetaProperty') return undefined
  return { url: text, isModule: saysModule(options), offset: Number(node['start']) }
}

function isCallOf({ type, callee }: SyntaxNode, names: readonly string[]): boolean {
  return type === 'NewExpression' && isNode(callee) && names.includes(String(callee['name']))
}

function argumentsOf({ arguments: list }: SyntaxNode): readonly unknown[] {
  return Array.isArray(list) ? list : []
}

function saysModule(options: unknown): boolean | undefined {
  if (!isNode(options)) return false
  // A shared worker may have a name instead of options.
  if (textOf(options) !== undefined) return false
  if (options.type !== 'ObjectExpression' || !Array.isArray(options['properties'])) return undefined
  let isModule: boolean | undefined = false
  for (const property of options['properties']) {
    if (!isNode(property) || property.type === 'SpreadElement') isModule = undefined
    else if ([Object(property['key']).name, textOf(property['key'])].includes('type')) {
      const text = textOf(property['value'])
      isModule = text === undefined ? undefined : text === 'module'
    }
  }
  return isModule
}
