// An application with a typical render: it escapes the text of 500 items for each page. It sends the build's page, because
// the bench compares the body with it.
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
