import { elementsOfPage, type PageElement } from '../links/elements-of-page.ts'

/** A page, or the document of an `<iframe srcdoc>`, to which the same policy applies. */
export interface PageDocument {
  readonly elements: readonly PageElement[]
  /** Whether the document may run scripts, which a sandbox can forbid. */
  readonly scripting: boolean
}

/** Maximum depth of nested frames. Real pages do not nest deeper. */
const deepestFrame = 7

/** Returns a page and its embedded documents. Elements of a frame get the line of its `<iframe>`. */
export function documentsOfPage(
  elements: readonly PageElement[],
  scripting = true,
  depth = 0,
): PageDocument[] {
  const frames = depth === deepestFrame ? [] : elements.filter(isFrame)
  return [
    { elements, scripting },
    ...frames.flatMap(({ attributes: { srcdoc = '', sandbox }, line }) => {
      const mayRun = sandbox === undefined || sandbox.toLowerCase().split(/\s+/).includes('allow-scripts')
      const inner = elementsOfPage(srcdoc, { scripting: scripting && mayRun })
      const placed = line === undefined ? inner : inner.map((element) => Object.assign(element, { line }))
      return documentsOfPage(placed, scripting && mayRun, depth + 1)
    }),
  ]
}

function isFrame({ tag, kind, attributes }: PageElement): boolean {
  return tag === 'iframe' && kind === 'html' && attributes['srcdoc'] !== undefined
}
