import { elementsOfPage, type PageElement } from '../links/elements-of-page.ts'

/** A page, or the document in an `<iframe srcdoc>` of it, which obeys the same policy. */
export interface PageDocument {
  readonly elements: readonly PageElement[]
  /** Whether a sandbox lets it run scripts. */
  readonly scripting: boolean
}

/** Deeper frames are not looked into: what nests like this is no page of anybody's. */
const deepestFrame = 7

/** A page and the documents in it; the elements of a frame have the line of its `<iframe>`. */
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
