// An application that renders as most do: it makes a list of 500 things into escaped text for each page. The page that it sends
// is the build's, because the bench compares it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import answerPage from './light-application.ts'

const things = Array.from({ length: 500 }, (_, index) => ({
  name: `Thing ${index} & "others"`,
  tags: [`<${index % 7}>`, `group-${index % 11}`],
}))

export default function renderPage(request: IncomingMessage, response: ServerResponse): void {
  const rows = things.map(({ name, tags }) => {
    const items = tags.map((tag) => `<li>${escapeText(tag)}</li>`).join('')
    return `<tr><td>${escapeText(name)}</td><td><ul>${items}</ul></td></tr>`
  })
  if (rows.join('\n').length < things.length) throw new TypeError('nothing was rendered')
  answerPage(request, response)
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
