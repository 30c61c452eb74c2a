import { s, type Schema } from '@serve-dist/manifest'
import {
  type BuildRecord,
  type ChunkNeeds,
  type HashedFile,
  type PagePreloads,
  type PolicyNeed,
  recordVersion,
  type StoredRecord,
} from './build-record.ts'

const texts = s.listOf(s.text('a text'))
const folder = s.text('a folder', /./s)

const record = s.objectOf<BuildRecord>({
  version: s.oneOf([recordVersion]),
  time: s.date,
  begun: s.optional(s.trueOrFalse),
  role: s.oneOf(['client', 'server']),
  base: s.basePath,
  appType: s.appType,
  assetsDirectory: s.text('a relative folder'),
  selection: s.selection,
  codings: s.optional(s.listOf(s.contentCoding)),
  minimumSize: s.optional(s.byteCount),
  serving: s.optional(s.servingRules),
  environment: s.optional(s.runtimeEnvironment),
  policy: s.optional(
    s.listOf(
      s.objectOf<PolicyNeed>({
        directive: s.directiveName,
        source: s.sentSource,
        reason: s.text('a reason', /./s),
      }),
    ),
  ),
  workers: s.optional(texts),
  preload: s.objectOr(
    s.objectOf<PagePreloads>({ fonts: s.trueOrFalse }),
    s.expecting<false>('false or { "fonts": true or false }', (value) => value === false),
  ),
  promises: texts,
  hashed: s.recordOf(
    s.objectOf<HashedFile>({
      sha256: s.sha256,
      stem: s.optional(s.text('a path with "[hash]" in it', (stem) => stem.includes('[hash]'))),
    }),
  ),
  graph: s.recordOf(s.objectOf<ChunkNeeds>({ imports: texts, styles: texts })),
  serverChunks: s.optional(texts),
})

const storedRecord = s.objectOf<StoredRecord>({ root: folder, folder, record })

/** Parses the text of `record.json`. Throws a TypeError that lists all problems. */
export function parseRecord(json: string): BuildRecord {
  return parse(record, json)
}

/** Parses the text of a cached record. */
export function parseStoredRecord(json: string): StoredRecord {
  return parse(storedRecord, json)
}

function parse<Found>(schema: Schema<Found>, json: string): Found {
  return s.read(schema, JSON.parse(json), '$', (problems) => new TypeError(problems.join('; ')))
}
