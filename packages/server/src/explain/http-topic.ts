/** A heading of docs/http.md. A test finds each one there. */
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
  'Files that appear after the start',
  'Middleware',
] as const

export type HttpTopic = (typeof httpTopics)[number]
