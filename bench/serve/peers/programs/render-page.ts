import { createElement, type ReactElement } from 'react'
import { renderToString } from 'react-dom/server'

const rowCount = 2000

/** A page that takes some ten milliseconds to render. */
export function renderPage(): string {
  return renderToString(createElement(Table))
}

function Table(): ReactElement {
  const rows = Array.from({ length: rowCount }, (_, index) =>
    createElement('tr', { key: index, className: 'row' }, createElement('td', undefined, `Row ${index}`)),
  )
  return createElement('table', undefined, createElement('tbody', undefined, rows))
}
