/** A list of links to the headings of a page. */
export function contents(headings: HTMLHeadingElement[]): HTMLElement {
  const list = document.createElement('div')
  list.className = 'contents'
  for (const heading of headings) {
    const link = document.createElement('a')
    link.href = `#${heading.id}`
    link.textContent = heading.textContent
    list.append(link)
  }
  return list
}
