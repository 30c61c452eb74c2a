import { parseArgs } from 'node:util'
import { positive } from '../serve/positive.ts'

/** What the command line asks for. */
export interface BuildRunOptions {
  /** Names; none for all. */
  readonly contenders: readonly string[]
  readonly trees: readonly string[]
  readonly rounds: number
  readonly flushes: boolean
  readonly baseline: string | undefined
  readonly save: string | undefined
  /** Saved reports that are looked at instead of measuring. */
  readonly from: readonly string[]
  /** Whether the tables go into the documentation. */
  readonly write: boolean
}

export const usage = `bench:build [options]

  --contenders a,b    which plugins (default: all)
  --trees a,b         which files: editor, small, huge (default: all)
  --rounds n          rounds, the contenders taking turns (default: 5)
  --no-flushes        do not count flushes, which takes a build more of each
  --baseline x        compare with a saved report, or with ours at a git ref, measured in turns
  --save file         save the report; not when an output was wrong
  --from a,b          measure nothing: show saved reports, and --write them
  --write             put the tables into bench/README.md; not when an output was wrong
`

/**
 * Reads the command line.
 *
 * @throws TypeError that names what is wrong.
 */
export function readBuildRunOptions(argv: readonly string[]): BuildRunOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      contenders: { type: 'string' },
      trees: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      'no-flushes': { type: 'boolean', default: false },
      baseline: { type: 'string' },
      save: { type: 'string' },
      from: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    contenders: values.contenders?.split(',') ?? [],
    trees: values.trees?.split(',') ?? [],
    rounds: positive('rounds', values.rounds),
    flushes: !values['no-flushes'],
    baseline: values.baseline,
    save: values.save,
    from: values.from?.split(',') ?? [],
    write: values.write,
  }
}
