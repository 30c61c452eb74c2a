import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { blocksOf } from '../../../scripts/document-blocks.mjs'

/** A code block of a migration page: a file to write, or commands to run. */
export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'commands'; readonly lines: readonly string[] }

const folder = fileURLToPath(new URL('../../../docs/migrate', import.meta.url))

/** A page in `docs/migrate`. */
export interface MigrationPage {
  /** The headings that have code blocks below them. */
  readonly headings: readonly string[]
  /** Returns the code blocks between a heading and the next one. */
  steps(heading: string): readonly Step[]
}

/**
 * Reads the code blocks of a page in `docs/migrate`.
 *
 * @throws Error if the line above a block does not name the block's file.
 */
export async function readMigrationPage(name: string): Promise<MigrationPage> {
  const text = await readFile(`${folder}/${name}`, 'utf8')
  const lines = text.split('\n')
  const sections = new Map<string, Step[]>()
  for (const { place, language, code } of blocksOf({ path: name, text })) {
    const above = lines.slice(0, Number(place.split(':').at(-1)) - 1)
    const heading = above.findLast((line) => line.startsWith('##'))?.replace(/^#+ /, '') ?? ''
    const step = readStep(
      language,
      code,
      above.findLast((line) => line !== ''),
    )
    sections.set(heading, [...(sections.get(heading) ?? []), step])
  }
  return {
    headings: [...sections.keys()],
    steps(heading) {
      const steps = sections.get(heading)
      if (steps === undefined) throw new Error(`${name} has no code below ${heading}`)
      return steps
    },
  }
}

function readStep(language: string, code: string, lineAbove = ''): Step {
  if (language === 'sh') return { kind: 'commands', lines: code.trim().split('\n') }
  const name = /`([^`]+)`:$/.exec(lineAbove)?.[1]
  if (name === undefined) throw new Error(`no file is named above this block:\n${code}`)
  return { kind: 'file', name, text: code }
}
