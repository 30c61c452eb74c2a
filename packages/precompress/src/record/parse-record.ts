import {
  contentCodings,
  type ContentCoding,
  DocumentReader,
  isBasePath,
  readRuntimeEnvironment,
  readSelection,
  readServingRules,
} from '@serve-dist/manifest'
import {
  type BuildRecord,
  type ChunkNeeds,
  type HashedFile,
  type PolicyNeed,
  recordVersion,
  type StoredRecord,
} from './build-record.ts'

const [firstCoding, ...otherCodings] = contentCodings
const codingNames: readonly [ContentCoding, ...ContentCoding[]] = [
  firstCoding.name,
  ...otherCodings.map(({ name }) => name),
]

/** Reads the text of `record.json`; throws a TypeError that names all that is wrong with it. */
export function parseRecord(text: string): BuildRecord {
  return parse(text, readRecordFields)
}

/** Reads the text of a record in the cache. */
export function parseStoredRecord(text: string): StoredRecord {
  return parse(text, (document) => ({
    root: document.field('root').where(isFilled, 'a folder'),
    folder: document.field('folder').where(isFilled, 'a folder'),
    record: readRecordFields(document.field('record')),
  }))
}

function parse<Found>(text: string, read: (document: DocumentReader) => Found): Found {
  const problems: string[] = []
  const found = read(new DocumentReader('$', JSON.parse(text), problems))
  if (problems.length > 0) throw new TypeError(problems.join('; '))
  return found
}

function readRecordFields(document: DocumentReader): BuildRecord {
  const version = document.field('version')
  if (version.value !== recordVersion) version.expected(String(recordVersion))
  const { begun, codings, minimumSize, serving, environment, policy, workers, preload, serverChunks } = {
    begun: document.field('begun'),
    environment: document.field('environment'),
    policy: document.field('policy'),
    workers: document.field('workers'),
    codings: document.field('codings'),
    minimumSize: document.field('minimumSize'),
    serving: document.field('serving'),
    preload: document.field('preload'),
    serverChunks: document.field('serverChunks'),
  }
  return {
    version: recordVersion,
    time: document.field('time').date(),
    ...(begun.value !== undefined && { begun: begun.boolean() }),
    role: document.field('role').oneOf(['client', 'server']),
    base: document.field('base').where(isBasePath, 'a path that begins and ends with "/"'),
    appType: document.field('appType').oneOf(['spa', 'mpa', 'custom']),
    assetsDirectory: document.field('assetsDirectory').where(() => true, 'a relative folder'),
    selection: readSelection(document.field('selection')),
    ...(codings.value !== undefined && { codings: codings.list((coding) => coding.oneOf(codingNames)) }),
    ...(minimumSize.value !== undefined && { minimumSize: minimumSize.byteCount() }),
    ...(serving.value !== undefined && { serving: readServingRules(serving) }),
    ...(environment.value !== undefined && { environment: readRuntimeEnvironment(environment) }),
    ...(policy.value !== undefined && { policy: policy.list(readNeed) }),
    ...(workers.value !== undefined && { workers: readTexts(workers) }),
    preload: preload.value === false ? false : { fonts: preload.field('fonts').boolean() },
    promises: readTexts(document.field('promises')),
    hashed: document.field('hashed').record(readHashedFile),
    graph: document.field('graph').record(readNeeds),
    ...(serverChunks.value !== undefined && { serverChunks: readTexts(serverChunks) }),
  }
}

function readHashedFile(file: DocumentReader): HashedFile {
  const stem = file.field('stem')
  return {
    sha256: file.field('sha256').matching(/^[0-9a-f]{64}$/, '64 lower-case hexadecimal digits'),
    ...(stem.value !== undefined && {
      stem: stem.where((text) => text.includes('[hash]'), 'a path with "[hash]" in it'),
    }),
  }
}

function readNeed(need: DocumentReader): PolicyNeed {
  return {
    directive: need.field('directive').matching(/^[a-z-]+$/, 'the name of a directive'),
    source: need.field('source').matching(/^[\x21-\x2B\x2D-\x3A\x3C-\x7E]+$/, 'a source'),
    reason: need.field('reason').where(isFilled, 'a reason'),
  }
}

function readNeeds(chunk: DocumentReader): ChunkNeeds {
  return { imports: readTexts(chunk.field('imports')), styles: readTexts(chunk.field('styles')) }
}

function readTexts(list: DocumentReader): string[] {
  return list.list((text) => text.where(() => true, 'a text'))
}

function isFilled(text: string): boolean {
  return text !== ''
}
