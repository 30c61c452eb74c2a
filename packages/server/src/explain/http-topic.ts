/** The headings of `docs/http.md` that steps refer to. */
export const httpTopics = [
  'Paths',
  'Unknown paths',
  'Methods',
  'Representations',
  'Conditions',
  'Ranges',
  'Fields',
  'Deltas',
  'Earlier builds',
  'Proxied paths',
  'Files that appear after the start',
  'Middleware',
] as const

export type HttpTopic = (typeof httpTopics)[number]
