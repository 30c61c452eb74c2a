import { loadSite, type Representation, type Resource } from '@serve-dist/server'

/** An answer that is the same for everybody. */
export interface ConstantAnswer {
  /** Names and values in turn. */
  readonly ok: string[]
  readonly notModified: string[]
  readonly body: Uint8Array<ArrayBuffer>
}

/**
 * Every path of a site with the one representation that all of the workload's clients ask for and our
 * very fields: for servers that do not negotiate.
 */
export async function readConstantAnswers(
  directory: string,
  accept: readonly string[],
): Promise<Map<string, ConstantAnswer>> {
  const { table } = await loadSite(directory, { memoryBudget: Number.MAX_SAFE_INTEGER })
  const answers = new Map<string, ConstantAnswer>()
  for (const [path, entry] of table) {
    if (entry.kind === 'resource') answers.set(path, answerOf(choose(entry, accept)))
  }
  return answers
}

/** The fields of an answer as `Headers` takes them. */
export function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index < fields.length; index += 2) {
    pairs.push([fields[index] ?? '', fields[index + 1] ?? ''])
  }
  return pairs
}

function choose({ representations, identity }: Resource, accept: readonly string[]): Representation {
  return representations.find(({ coding }) => accept.includes(coding)) ?? identity
}

function answerOf({ ok, notModified, bytes }: Representation): ConstantAnswer {
  if (bytes.body === undefined) throw new TypeError('a body that is not in memory')
  return { ok: [...ok.fields], notModified: [...notModified.fields], body: new Uint8Array(bytes.body) }
}
